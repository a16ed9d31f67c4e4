"""Answers as bytes, written in the thread that read the rows.

Left to the framework, a read takes a second turn in the line for threads to be checked against its model, and is then
written on the event loop, where everyone else waits meanwhile. What a call answers with is still declared, documented
and checked: by mypy where it returns its model, by tests where it writes records.

See docs/decisions/read-performance.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import orjson
from fastapi import Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic_core import to_json

from api.store.core.records import Record

JSON = "application/json"


class ReadyRoute(APIRoute):
    """A GET that runs in a thread answers with bytes made there; every other call is the framework's own affair."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        reads = set(options.get("methods") or {"GET"}) == {"GET"}
        if reads and not inspect.iscoroutinefunction(endpoint):
            endpoint = _writing(endpoint)
        super().__init__(path, endpoint, **options)


def _writing(endpoint: Callable[..., Any]) -> Callable[..., Response]:
    @wraps(endpoint)
    def write(*arguments: Any, **named: Any) -> Response:
        value = endpoint(*arguments, **named)
        return value if isinstance(value, Response) else model_response(value)

    return write


def model_response(
    value: BaseModel | Sequence[BaseModel] | dict[str, Any], headers: dict[str, str] | None = None
) -> Response:
    """Models as the framework would write them."""
    return Response(to_json(value, inf_nan_mode="null"), media_type=JSON, headers=headers)


def records_page(records: Sequence[Record], limit: int, shape: type[BaseModel], cursor: str = "id") -> Response:
    """The page of records that were asked for with a limit of one more than shown."""
    items = _shaped(records[:limit], shape)
    following = str(items[-1][cursor]) if len(records) > limit else None
    return _written({"items": items, "next_cursor": following})


def record_response(record: Record, **parts: Any) -> Response:
    """One record that is made up already."""
    return _written({**record, **parts})


def shaped(record: Record, shape: type[BaseModel]) -> Record:
    """The fields of the shape, in its order; what else was read is left out."""
    return {name: record[name] for name in shape.model_fields}


def _shaped(records: Sequence[Record], shape: type[BaseModel]) -> list[Record]:
    names = tuple(shape.model_fields)
    return [{name: record[name] for name in names} for record in records]


def _written(value: Any) -> Response:
    # times as the models write them: in UTC, with a Z
    return Response(orjson.dumps(value, option=orjson.OPT_UTC_Z), media_type=JSON)
