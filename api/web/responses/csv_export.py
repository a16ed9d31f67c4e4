"""Lists as CSV files, written page by page as they are read, so that memory use does not grow with the rows."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Query, Response
from fastapi.responses import StreamingResponse

from api.store.core.records import Record

CSV = "text/csv; charset=utf-8"
PAGE = 5_000
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


class Form(StrEnum):
    """Format of a list."""

    JSON = "json"
    CSV = "csv"


FormQuery = Annotated[Form, Query(alias="format", description="json: one page; csv: the whole list, as a file")]
CSV_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}, "example": "id,name\r\n17,main\r\n"}}}
}


def csv_download(name: str, columns: Sequence[str], pages: Iterable[Sequence[Record]]) -> Response:
    """Every row of every page as one file."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return StreamingResponse(_lines(columns, pages), headers=headers, media_type=CSV)


def every_page(read: Callable[[int | None], Sequence[Record]]) -> Iterator[Sequence[Record]]:
    """Page after page until one is not full; each is read after the id of the last record."""
    position: int | None = None
    while True:
        page = read(position)
        yield page
        if len(page) < PAGE:
            return
        position = page[-1]["id"]


def _lines(columns: Sequence[str], pages: Iterable[Sequence[Record]]) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for page in pages:
        for item in page:
            writer.writerow([_cell(item[column]) for column in columns])
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()


def without_formula(value: Any) -> Any:
    """As a cell that a spreadsheet does not evaluate: a text that begins like a formula gets an apostrophe."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict | list):
        return json.dumps(value, separators=(",", ":"))
    return without_formula(value)
