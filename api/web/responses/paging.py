"""Pages of lists: `limit` and `cursor` in, `items` and `next_cursor` out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import Path, Query

from api.schemas.base import LARGEST, Page

Shown = TypeVar("Shown")

CURSOR = "where the page before ended: its `next_cursor`"


Limit = Annotated[int, Query(ge=1, le=500, description="how many items a page has at most", examples=[50])]
IdCursor = Annotated[UUID | None, Query(description=CURSOR)]
NumberCursor = Annotated[int | None, Query(ge=0, le=LARGEST, description=CURSOR)]
SmallCursor = Annotated[int | None, Query(ge=0, le=2**31 - 1, description=CURSOR)]
NameCursor = Annotated[str | None, Query(min_length=1, max_length=200, pattern=r"^[^\x00]+$", description=CURSOR)]
EntityId = Annotated[UUID, Path(description="its id", examples=["0198c5a2-7c31-7abc-8def-0123456789ab"])]
RowNumber = Annotated[int, Path(ge=0, le=LARGEST, description="its number", examples=[17])]


def page_of(
    rows: Sequence[Any], limit: int, show: Callable[[Any], Shown], cursor: Callable[[Shown], object]
) -> Page[Shown]:
    """The page of rows that were asked for with a limit of one more than shown."""
    items = [show(row) for row in rows[:limit]]
    return Page(items=items, next_cursor=str(cursor(items[-1])) if len(rows) > limit else None)


def text_of(cursor: UUID | None) -> str | None:
    return None if cursor is None else str(cursor)
