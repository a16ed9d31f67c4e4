"""Rows as records: plain dictionaries whose keys are the fields of a schema of `api/schemas`.

A read of an answer selects `fields_of(Schema, table, ...)`; the web side writes the record as it is. So a new field of
an answer is declared in the schema, and that is all if it is a column of the table. A field that the select lacks is
refused when the module is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from sqlalchemy import ColumnElement, FromClause, Select, Text, TextClause, Uuid, type_coerce
from sqlalchemy.orm import Session

from api.store.tables.base import EnumText

Record = dict[str, Any]


def fields_of(
    schema: type[BaseModel], table: FromClause, *others: ColumnElement[Any], later: Collection[str] = ()
) -> list[ColumnElement[Any]]:
    """The columns of a select whose rows are records of the schema: columns of the table, and labelled others.

    `later` names fields that are not selected: the reading function adds them to each record.
    """
    named = {column.key for column in others}
    own = [column for column in table.c if column.key in schema.model_fields and column.key not in named]
    missing = set(schema.model_fields) - {column.key for column in own} - named - set(later)
    if missing:
        raise TypeError(f"the select of {schema.__name__} lacks {', '.join(sorted(missing))}")
    return plain([*own, *others])


def plain(columns: Iterable[ColumnElement[Any]]) -> list[ColumnElement[Any]]:
    """Columns as JSON has them: enums and ids stay text."""
    return [
        type_coerce(column, Text).label(column.key) if isinstance(column.type, EnumText | Uuid) else column
        for column in columns
    ]


def read_records(
    session: Session, query: Select[Any] | TextClause, parameters: Mapping[str, Any] | None = None
) -> list[Record]:
    """The rows of a query over tables. Reads through the connection, since a session would look for entities."""
    result = session.connection().execute(query, parameters)
    names = tuple(map(str, result.keys()))  # some are of a subclass, which orjson refuses as keys
    return [dict(zip(names, row, strict=True)) for row in result.all()]
