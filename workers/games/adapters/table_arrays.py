"""The arrays through which a game reads its environments, stepped here, in other processes, or in C++.

Each table has `width` slots, one for each seat that may act at once. They hold what the seats that are to act see, and
take their actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout


@dataclass(frozen=True)
class Layout:
    """Names, shapes and types of the arrays of a game on this many tables."""

    spec: GameSpec
    tables: int

    @property
    def width(self) -> int:
        return self.spec.seats if self.spec.simultaneous else 1

    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        slots, action = self.tables * self.width, ActionLayout(self.spec.action)
        found: dict[str, tuple[tuple[int, ...], Any]] = {
            "acting": ((self.tables,), np.int64),
            "seats": ((slots,), np.int64),
            "rewards": ((self.tables, self.spec.seats), np.float32),
            "done": ((self.tables,), np.bool_),
            "truncated": ((self.tables,), np.bool_),
            "actions": ((slots, *action.shape), action.dtype),
        }
        if action.mask_width is not None:
            found["legal"] = ((slots, action.mask_width), np.bool_)
        if self.spec.state is not None:
            found["states"] = ((self.tables, *(self.spec.state.shape or ())), self.spec.state.dtype)
        for name, part in self.spec.observation_parts.items():
            found[f"obs/{name}"] = ((slots, *part.shape), part.dtype)
        return {name: (shape, np.dtype(kind)) for name, (shape, kind) in found.items()}

    @property
    def size(self) -> int:
        """Bytes of all arrays, each at a multiple of 64."""
        return sum(_padded(shape, kind) for shape, kind in self.arrays().values())


@dataclass(frozen=True)
class TableArrays:
    """The arrays themselves, in memory of this process or shared with others."""

    acting: NDArray[np.int64]
    """[tables], how many seats are to act at each table; they lie in its first slots, in the order of seats."""
    seats: NDArray[np.int64]
    rewards: NDArray[np.float32]
    done: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    actions: NDArray[Any]
    observations: dict[str, NDArray[Any]]
    legal: NDArray[np.bool_] | None = None
    states: NDArray[Any] | None = None
    """[tables, ...], the global states, written when they are asked for."""

    @classmethod
    def over(cls, layout: Layout, memory: Any = None) -> TableArrays:
        """Arrays over this buffer of `layout.size` bytes, or over new memory."""
        buffer = bytearray(layout.size) if memory is None else memory
        arrays, start = {}, 0
        for name, (shape, kind) in layout.arrays().items():
            count = int(np.prod(shape, dtype=np.int64))
            arrays[name] = np.frombuffer(buffer, kind, count, start).reshape(shape)
            start += _padded(shape, kind)
        seen = {name.removeprefix("obs/"): arrays.pop(name) for name in list(arrays) if name.startswith("obs/")}
        return cls(observations=seen, **arrays)


def _padded(shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    return -(-int(np.prod(shape, dtype=np.int64)) * kind.itemsize // 64) * 64
