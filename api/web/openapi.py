"""The OpenAPI document, completed: every call lists the problems that it may answer with."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from api.schemas.events.openapi import event_schemas
from api.schemas.problems import Problem
from api.web.problems import MEDIA_TYPE, title_of

API = "/api/v1"
ALWAYS = (400, 413, 422, 429, 503)
"""Unknown host or malformed body; body too large; unknown or invalid parameter; rate limit; unavailable part."""
CHANGES = ("post", "put", "patch", "delete")


def install_openapi(app: FastAPI) -> None:
    """Serve the completed document at /openapi.json."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _complete(
                get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
            )
        return app.openapi_schema

    @cache
    def written() -> bytes:
        return json.dumps(document(), separators=(",", ":")).encode()

    async def described() -> Response:
        return Response(written(), media_type="application/json")

    app.openapi = document  # type: ignore[method-assign]
    app.state.write_openapi = written
    app.add_api_route("/openapi.json", described, include_in_schema=False)


def _complete(schema: dict[str, Any]) -> dict[str, Any]:
    _, definitions = models_json_schema([(Problem, "serialization")], ref_template="#/components/schemas/{model}")
    schemas = schema.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(definitions["$defs"])
    schemas.update(event_schemas())
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for path, calls in schema["paths"].items():
        for method, call in calls.items():
            for parameter in call.get("parameters", ()):
                parameter["schema"] = _not_null(parameter["schema"])
            for status in _problems_of(path, method, call):
                if "text/html" not in call["responses"].get(str(status), {}).get("content", {}):  # a page for people
                    call["responses"][str(status)] = _problem(status)
    return schema


def _problems_of(path: str, method: str, call: dict[str, Any]) -> set[int]:
    statuses = {*ALWAYS} if path.startswith(API) else {400, 422}
    guarded = bool(call.get("security"))
    if guarded:
        statuses |= {401, 403}
    if "{" in path:
        statuses |= {404}
    if guarded and method in CHANGES:
        statuses |= {404, 409}
    if any(parameter["name"] == "If-Match" for parameter in call.get("parameters", ())):
        statuses |= {412}
    return statuses | {int(status) for status in call["responses"] if status in ("404", "409", "410", "412")}


def _problem(status: int) -> dict[str, Any]:
    return {
        "description": title_of(status),
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _not_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A header or query parameter is left out, never null."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) != 1:
        return schema
    return {**{key: value for key, value in schema.items() if key != "anyOf"}, **choices[0]}
