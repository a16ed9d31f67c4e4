"""Pages of lists: `limit` and `cursor` in, `items` and `next_cursor` out."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query

from api.schemas.base import LARGEST

CURSOR = "the `next_cursor` of the page before"


Limit = Annotated[int, Query(ge=1, le=500, description="the largest number of items on a page", examples=[50])]
IdCursor = Annotated[UUID | None, Query(description=CURSOR)]
NumberCursor = Annotated[int | None, Query(ge=0, le=LARGEST, description=CURSOR)]
SmallCursor = Annotated[int | None, Query(ge=0, le=2**31 - 1, description=CURSOR)]
NameCursor = Annotated[str | None, Query(min_length=1, max_length=200, pattern=r"^[^\x00]+$", description=CURSOR)]
EntityId = Annotated[UUID, Path(description="its id", examples=["0198c5a2-7c31-7abc-8def-0123456789ab"])]
RowNumber = Annotated[int, Path(ge=0, le=LARGEST, description="its number", examples=[17])]
FirstPosition = Annotated[
    int | None,
    Query(ge=0, le=2**31 - 1, description="only a part that begins here; `next` says where the following one does"),
]


def text_of(cursor: UUID | None) -> str | None:
    return None if cursor is None else str(cursor)
