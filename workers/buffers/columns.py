"""Storage of rows in a ring, column by column, as plain arrays or compressed."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Slots = NDArray[np.int64]


class Column(Protocol):
    """One column of a ring."""

    nbytes: int

    def write(self, slots: Slots, rows: NDArray[Any]) -> None:
        """Put these rows into these slots."""

    def read(self, slots: Slots) -> NDArray[Any]:
        """The rows of these slots."""

    def state(self, size: int) -> dict[str, NDArray[Any]]:
        """The first `size` slots as arrays; `load` restores them."""

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `state` gave."""


class PlainColumn:
    """One array. The operating system gives it memory as it fills."""

    def __init__(self, capacity: int, like: NDArray[Any]) -> None:
        self.array = np.empty((capacity, *like.shape[1:]), like.dtype)
        self.nbytes = self.array.nbytes

    def write(self, slots: Slots, rows: NDArray[Any]) -> None:
        self.array[slots] = rows

    def read(self, slots: Slots) -> NDArray[Any]:
        return self.array[slots]

    def state(self, size: int) -> dict[str, NDArray[Any]]:
        return {"rows": self.array[:size]}

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        self.array[: len(state["rows"])] = state["rows"]


class CompressedColumn:
    """Each row compressed alone by zlib, quickest level: for images, which shrink to a fraction."""

    def __init__(self, capacity: int, like: NDArray[Any]) -> None:
        self._shape, self._dtype = like.shape[1:], like.dtype
        self._rows: list[bytes] = [b""] * capacity
        self.nbytes = 0

    def write(self, slots: Slots, rows: NDArray[Any]) -> None:
        for slot, row in zip(slots.tolist(), rows, strict=True):
            packed = zlib.compress(np.ascontiguousarray(row).tobytes(), 1)
            self.nbytes += len(packed) - len(self._rows[slot])
            self._rows[slot] = packed

    def read(self, slots: Slots) -> NDArray[Any]:
        found = np.empty((len(slots), *self._shape), self._dtype)
        for place, slot in enumerate(slots.tolist()):
            found[place] = np.frombuffer(zlib.decompress(self._rows[slot]), self._dtype).reshape(self._shape)
        return found

    def state(self, size: int) -> dict[str, NDArray[Any]]:
        rows = self._rows[:size]
        lengths = np.array([len(row) for row in rows], np.int64)
        return {"lengths": lengths, "bytes": np.frombuffer(b"".join(rows), np.uint8)}

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        data, end = state["bytes"].tobytes(), 0
        for slot, length in enumerate(state["lengths"].tolist()):
            self._rows[slot] = data[end : end + length]
            end += length
        self.nbytes = end
