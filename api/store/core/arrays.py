"""Reads Postgres arrays into numpy without a Python object for each element."""

from __future__ import annotations

from typing import Any

import numpy as np
from psycopg import Cursor
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from sqlalchemy.orm import Session

_HEADER = 20
"""Bytes before the elements of a binary array of one dimension: its shape, flags, and the elements' type."""
_ELEMENTS = {"int2": ">i2", "int8": ">i8", "float8": ">f8", "uuid": "S16"}


def read_arrays(session: Session, query: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a query, with arrays (of one dimension, without nulls) of numbers and ids as numpy arrays."""
    connection = session.connection().connection.driver_connection
    assert connection is not None
    with connection.cursor(binary=True) as cursor:
        _register(cursor)
        cursor.execute(query, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _register(cursor: Cursor[Any]) -> None:
    for name, element in _ELEMENTS.items():
        kind = np.dtype([("length", ">i4"), ("value", element)])

        class ArrayLoader(Loader):
            format = Format.BINARY
            elements = kind

            def load(self, data: Buffer) -> Any:
                values = np.frombuffer(data, self.elements, offset=_HEADER)["value"]
                return values.astype(values.dtype.newbyteorder("="))

        cursor.adapters.register_loader(cursor.adapters.types[name].array_oid, ArrayLoader)
