"""The reference of trial files, from their JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.documentation.reference.schemas import cell, field_table, object_links
from orchestrator.spec.trial import trial_json_schema


def page() -> str:
    """Every field of a trial file."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    schema = trial_json_schema()
    definitions = schema["$defs"]
    links = object_links(definitions)
    yield "# Fields of a trial file\n"
    yield "Written from the code. The guide that explains them is [the trial file](../guides/trial-file.md);"
    yield "`lanista trial schema` prints the same as JSON Schema.\n"
    yield "## The file\n"
    yield from field_table(schema, links)
    for name in links:
        yield f"\n## {name}\n"
        yield f"{cell(definitions[name].get('description', ''))}\n"
        yield from field_table(definitions[name], links)
