"""What a list of the API gives: an iterator over its pages that can also become a pandas frame."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import pandas

Item = TypeVar("Item")


class Items(Iterator[Item]):
    """The items of a list; the next page is fetched when it is needed."""

    def __init__(self, schema: type[Item], items: Iterator[Item]) -> None:
        self._schema: Any = schema
        self._items = items

    def __next__(self) -> Item:
        return next(self._items)

    def to_frame(self) -> pandas.DataFrame:
        """All items that were not read yet, one row each (of metrics: one row for each value); needs pandas."""
        from api.schemas.frames import frame_of

        return frame_of(self._schema, list[Any](self))


class AsyncItems(AsyncIterator[Item], Generic[Item]):
    """The same for asyncio."""

    def __init__(self, schema: type[Item], items: AsyncIterator[Item]) -> None:
        self._schema: Any = schema
        self._items = items

    async def __anext__(self) -> Item:
        return await anext(self._items)

    async def aclose(self) -> None:
        """Read no more."""
        close = getattr(self._items, "aclose", None)
        if close is not None:
            await close()

    async def to_frame(self) -> pandas.DataFrame:
        """All items that were not read yet, one row each (of metrics: one row for each value); needs pandas."""
        from api.schemas.frames import frame_of

        items: list[Any] = [item async for item in self]
        return frame_of(self._schema, items)
