"""The reference of the REST API, from its OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.settings import ApiSettings
from api.web.app import create_app
from benchmarks.documentation.reference.schemas import cell, default_of, field_table, meaning, object_links, type_of

_REFUSALS = {"400", "401", "403", "404", "409", "412", "413", "422", "429", "503"}


def page() -> str:
    """Every endpoint with its parameters, its body and its answer."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    document = create_app(ApiSettings()).openapi()
    definitions = document["components"]["schemas"]
    links = object_links(definitions)
    yield "# Endpoints\n"
    yield "Written from the code. Tokens, errors, pages, idempotency and events are explained in [the REST"
    yield "API](../guides/rest.md); a running API has its OpenAPI document at `/api/v1/openapi.json`."
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield from _operation(f"{method.upper()} {path}", operation, links)
    yield "\n## Objects\n"
    for name in links:
        yield f"\n### {name}\n"
        yield f"{cell(definitions[name].get('description', ''))}\n"
        yield from field_table(definitions[name], links)


def _operation(name: str, operation: dict[str, Any], links: dict[str, str]) -> Iterator[str]:
    yield f"\n## {name}\n"
    yield f"**{operation.get('summary', '')}.** {operation.get('description', '')}\n"
    parameters = operation.get("parameters", [])
    if parameters:
        yield "| parameter | in | type | default | what it is |"
        yield "| --- | --- | --- | --- | --- |"
    for one in parameters:
        schema = one.get("schema", {})
        default = "required" if one.get("required") else default_of(schema)
        said = cell(meaning({**schema, "description": one.get("description", "")}))
        yield f"| `{one['name']}` | {one['in']} | {type_of(schema, links)} | {default} | {said} |"
    if "requestBody" in operation:
        yield f"\nBody: {_content(operation['requestBody'], links)}."
    for status, answer in operation["responses"].items():
        if status not in _REFUSALS:
            yield f"\nAnswer {status}: {_content(answer, links)}."
    refused = ", ".join(sorted(set(operation["responses"]) & _REFUSALS))
    if refused:
        yield f"\nRefusals: {refused}."


def _content(holder: dict[str, Any], links: dict[str, str]) -> str:
    shown = [f"{type_of(one.get('schema', {}), links)} ({kind})" for kind, one in holder.get("content", {}).items()]
    return " or ".join(shown) or "empty"
