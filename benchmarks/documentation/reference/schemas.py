"""JSON Schema as Markdown: a table of fields for each object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]
LARGEST = 2**63 - 1
LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


def field_table(schema: Schema, links: dict[str, str]) -> Iterator[str]:
    """The rows of an object's fields. `links` has the heading of each object that has a table of its own."""
    required = set(schema.get("required", ()))
    yield "| field | type | default | what it is |"
    yield "| --- | --- | --- | --- |"
    for name, field in schema.get("properties", {}).items():
        default = "required" if name in required else default_of(field)
        yield f"| `{name}` | {type_of(field, links)} | {default} | {cell(meaning(field))} |"


def default_of(field: Schema) -> str:
    """The default as JSON; that of a section is its own table's."""
    if "default" not in field:
        return ""
    default = field["default"]
    return "see there" if isinstance(default, dict) and default else f"`{json.dumps(default, ensure_ascii=False)}`"


def meaning(field: Schema) -> str:
    """What a field's description says, with its limits."""
    limits = [words.format(field[key]) for key, words in LIMITS.items() if key in field and field[key] != LARGEST]
    said = str(field.get("description", ""))
    return f"{said} ({', '.join(limits)})" if limits else said


def type_of(field: Schema, links: dict[str, str]) -> str:
    """A field's type in words."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{links[name]})" if name in links else name
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in field:
            return " or ".join(dict.fromkeys(type_of(one, links) for one in field[key]))
    if field.get("type") == "array":
        return f"list of {type_of(field['items'], links)}" if field.get("items") else "list"
    kind = field.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def cell(text: str) -> str:
    """Text that may stand in a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def slug(heading: str) -> str:
    """A heading's fragment."""
    return heading.lower().replace(" ", "-")


def object_links(definitions: Schema) -> dict[str, str]:
    """The fragment of every definition that is an object with fields."""
    return {name: slug(name) for name, found in definitions.items() if found.get("properties")}
