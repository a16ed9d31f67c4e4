"""Answers as bytes, written in the thread that read the rows.

By default the framework validates an answer against its model in a second thread, and serialises it on the event loop,
where all other requests wait meanwhile. What a route answers with is still declared, documented and checked: by mypy
where it returns its model, by tests where it writes records.

See docs/decisions/api-load.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic_core import to_json

from api.store.core.records import Record
from api.web.responses.conditional import shrink
from api.web.responses.query_parameters import parameters_of, refuse_unknown

JSON = "application/json"


class SerializingRoute(APIRoute):
    """The class of all routes: refuses unknown query parameters; writes a GET's answer in the thread that ran it.

    Answers to GET have an ETag and are compressed where the caller takes that (`conditional.py`).
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        reads = set(options.get("methods") or {"GET"}) == {"GET"}
        if reads and not inspect.iscoroutinefunction(endpoint):
            endpoint = _writing(endpoint)
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        allowed = parameters_of(self.dependant)

        async def checked(request: Request) -> Response:
            refused = refuse_unknown(request, allowed)
            if refused is not None:
                return refused
            response = await handle(request)
            return await shrink(request, response) if request.method == "GET" else response

        return checked


def _writing(endpoint: Callable[..., Any]) -> Callable[..., Response]:
    @wraps(endpoint)
    def write(*arguments: Any, **named: Any) -> Response:
        value = endpoint(*arguments, **named)
        return value if isinstance(value, Response) else Response(to_json(value, inf_nan_mode="null"), media_type=JSON)

    return write


def record_response(record: Record, schema: type[BaseModel], headers: Mapping[str, str] | None = None) -> Response:
    """A record with the fields of the schema."""
    assert record.keys() == schema.model_fields.keys(), "the read selects the fields of the schema"
    return _written(record, headers)


def records_page(
    records: Sequence[Record],
    limit: int,
    schema: type[BaseModel],
    cursor: str | Callable[[Record], object] = "id",
    **more: Any,
) -> Response:
    """The page of records that were read with a limit of one more.

    The cursor is a field of the last record, or made from it; `more` are fields of the answer besides the items.
    """
    items = records[:limit]
    following = None
    if items:
        assert items[0].keys() == schema.model_fields.keys(), "the read selects the fields of the schema"
        if len(records) > limit:
            following = str(items[-1][cursor] if isinstance(cursor, str) else cursor(items[-1]))
    return _written({**more, "items": items, "next_cursor": following})


def _written(value: Any, headers: Mapping[str, str] | None = None) -> Response:
    # times as the models write them: in UTC, with a Z
    return Response(orjson.dumps(value, option=orjson.OPT_UTC_Z), media_type=JSON, headers=headers)
