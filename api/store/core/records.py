"""Rows as plain dictionaries, for lists that are written as JSON and not worked with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Select, Text, Uuid, type_coerce
from sqlalchemy.orm import Session

from api.store.tables.base import Word

Record = dict[str, Any]


def plain(columns: Iterable[ColumnElement[Any]]) -> list[ColumnElement[Any]]:
    """Columns as JSON has them: words and ids stay the text that they come as."""
    return [
        type_coerce(column, Text).label(column.key) if isinstance(column.type, Word | Uuid) else column
        for column in columns
    ]


def read_records(session: Session, query: Select[Any]) -> list[Record]:
    """The rows of a query over tables. Past the session, which would look for entities in each."""
    result = session.connection().execute(query)
    names = tuple(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result.all()]
