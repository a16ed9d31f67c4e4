"""Replay buffers by name, within a limit on their memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.buffers.contract import Draw
from workers.buffers.dataset import from_columns
from workers.buffers.errors import BadData
from workers.buffers.prioritised import Prioritised
from workers.buffers.replay import Replay
from workers.buffers.sequences import PrioritisedSequences, Sequences
from workers.gateway.contract import Refused
from workers.inference.actor import Columns
from workers.rollout.batch import PENDING, Experience

MOST_BUFFERS = 64
MOST_ROWS = 1 << 16
"""Rows of one draw."""
MOST_STEPS = 4096
"""Decisions of one sequence."""
_LINK_BYTES = 12
_LEAF_BYTES = 32
_GIVEN_BY_DRAWS = ("next", "discount", "mask", "valid")


@dataclass(frozen=True, kw_only=True)
class BufferOptions:
    """What a buffer is made with."""

    capacity: int
    warm_up: int = 1
    gamma: float = 1.0
    n_step: int = 1
    compressed: bool = False
    priorities: tuple[float, float] | None = None
    """alpha and beta; None: equal chances."""
    sequences: tuple[int, int] | None = None
    """length and burn_in; None: single decisions."""

    def check(self) -> None:
        """Raise Refused for what no buffer can have."""
        if self.capacity < 1 or not 1 <= self.warm_up <= self.capacity:
            raise Refused(400, f"capacity is {self.capacity} and warm_up {self.warm_up}; 1 <= warm_up <= capacity")
        if not 1 <= self.n_step <= MOST_STEPS or not (0.0 <= self.gamma <= 1.0):
            raise Refused(400, f"n_step must be 1 to {MOST_STEPS} and gamma 0 to 1, not {self.n_step} and {self.gamma}")
        if self.priorities is not None and not all(0.0 <= each <= 1.0 for each in self.priorities):
            raise Refused(400, f"alpha and beta must be 0 to 1, not {self.priorities}")
        length, burn_in = self.sequences or (1, 0)
        if length < 1 or burn_in < 0 or length + burn_in > MOST_STEPS:
            raise Refused(400, f"length must be at least 1, burn_in at least 0, both together at most {MOST_STEPS}")

    @property
    def fixed_bytes(self) -> int:
        """Memory that the buffer takes beside its columns."""
        return self.capacity * (_LINK_BYTES + (_LEAF_BYTES if self.priorities is not None else 0))

    def make(self) -> Replay:
        """An empty buffer."""
        given: dict[str, Any] = {
            "capacity": self.capacity,
            "warm_up": self.warm_up,
            "gamma": self.gamma,
            "n_step": self.n_step,
            "compressed": self.compressed,
        }
        if self.sequences is not None:
            given |= {"length": self.sequences[0], "burn_in": self.sequences[1]}
        if self.priorities is None:
            return Replay(**given) if self.sequences is None else Sequences(**given)
        given |= {"alpha": self.priorities[0], "beta": self.priorities[1]}
        return Prioritised(**given) if self.sequences is None else PrioritisedSequences(**given)


class HeldBuffer:
    """One buffer, and what its rows look like."""

    def __init__(self, name: str, options: BufferOptions) -> None:
        self.name, self.options, self.buffer = name, options, options.make()
        self.added = 0
        self.reserved = options.fixed_bytes
        """Bytes that it takes, or will take when it is full."""
        self.row_bytes = 0
        self._like: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] = {}

    @property
    def bytes(self) -> int:
        return max(self.reserved, self.buffer.nbytes)

    def experience(self, columns: dict[str, NDArray[Any]]) -> Experience:
        """Pushed columns as experience that this buffer can take; raises Refused."""
        taken = sorted({name for name in columns if name.partition("/")[0] in _GIVEN_BY_DRAWS})
        if taken:
            raise Refused(400, f"columns: {', '.join(taken)} is a name that draws give; choose another")
        flat = sorted(name for name, column in columns.items() if not column.ndim)
        if flat:
            raise Refused(400, f"columns: {', '.join(flat)} has no rows")
        try:
            new = from_columns(columns, "columns")
        except (BadData, ValueError) as error:
            raise Refused(400, str(error)) from error
        _check_links(new)
        self._check_columns(new.columns)
        if len(new) > self.options.capacity:
            raise Refused(400, f"a push of {len(new)} decisions into a buffer of {self.options.capacity}")
        return new

    def _check_columns(self, columns: Columns) -> None:
        for name, column in columns.items():
            if name == "reward" and column.ndim != 1:
                raise Refused(400, f"columns: reward must be one number a row, not {list(column.shape)}")
        found = {name: (column.shape[1:], column.dtype) for name, column in columns.items()}
        if self._like and found != self._like:
            odd = sorted(name for name in found.keys() | self._like.keys() if found.get(name) != self._like.get(name))
            raise Refused(400, f"columns differ from those of the first push: {', '.join(odd)}")

    def first(self, new: Experience) -> int:
        """Learn what rows look like; returns the bytes of the buffer when it is full of them."""
        self.row_bytes = sum(column[:1].nbytes for column in new.columns.values())
        return self.buffer.bytes_when_full(new)

    def add(self, new: Experience) -> None:
        self.buffer.add(new)
        self.buffer.release_newest()
        self.added += len(new)
        self._like = {name: (column.shape[1:], column.dtype) for name, column in new.columns.items()}


class ReplayBuffers:
    """All buffers of a process. Not for several threads at once."""

    def __init__(self, memory: int, largest_reply: int) -> None:
        """`memory`: bytes for all buffers together."""
        self._memory, self._largest_reply = memory, largest_reply
        self._buffers: dict[str, HeldBuffer] = {}

    def open(self, name: str, options: BufferOptions) -> HeldBuffer:
        """Make a buffer, or find the one that there is."""
        options.check()
        held = self._buffers.get(name)
        if held is not None:
            if held.options != options:
                raise Refused(409, f"there is a buffer {name!r} with other options: {held.options}")
            return held
        if len(self._buffers) >= MOST_BUFFERS:
            raise Refused(429, f"there are {MOST_BUFFERS} buffers, the most that are allowed; close one")
        self._reserve(options.fixed_bytes, f"a buffer of {options.capacity} decisions")
        held = self._buffers[name] = HeldBuffer(name, options)
        return held

    def get(self, name: str) -> HeldBuffer:
        held = self._buffers.get(name)
        if held is None:
            known = ", ".join(sorted(self._buffers)) or "none"
            raise Refused(404, f"there is no buffer {name[:200]!r}; there are: {known}. Open makes one.")
        return held

    def close(self, name: str) -> HeldBuffer:
        """Drop a buffer."""
        held = self.get(name)
        del self._buffers[name]
        return held

    def push(self, name: str, columns: dict[str, NDArray[Any]]) -> HeldBuffer:
        """Add decisions."""
        held = self.get(name)
        new = held.experience(columns)
        if not len(new):
            return held
        if not held.row_bytes:
            full = held.first(new)
            try:
                self._reserve(full - held.reserved, f"buffer {name!r}, full of such decisions,")
            except Refused:
                held.row_bytes = 0
                raise
            held.reserved = full
        elif held.options.compressed:  # only compressed buffers can outgrow their reservation
            self._reserve(0, f"buffer {name!r}")
        held.add(new)
        return held

    def draw(self, name: str, rows: int, seed: int) -> Draw:
        """Draw decisions; raises Refused (409) while there are too few."""
        held = self.get(name)
        if not 1 <= rows <= MOST_ROWS:
            raise Refused(400, f"rows must be 1 to {MOST_ROWS}, not {rows}")
        size = 2 * held.row_bytes * rows * sum(held.options.sequences or (1, 0))
        if size > self._largest_reply:
            raise Refused(413, f"{rows} rows take about {size} bytes; a reply may have {self._largest_reply}")
        if held.buffer.drawable * 64 < len(held.buffer):
            raise Refused(409, f"of {len(held.buffer)} decisions, the successors of {held.buffer.drawable} are known")
        found = held.buffer.draw(rows, np.random.default_rng(seed or None))
        if found is None:
            words = f"{held.buffer.drawable} decisions can be drawn, and warm_up is {held.options.warm_up}"
            raise Refused(409, f"buffer {name!r}: {words}", retry_after=1.0)
        return found

    def feedback(self, name: str, ids: NDArray[Any], errors: NDArray[Any]) -> HeldBuffer:
        """Set priorities of drawn rows."""
        held = self.get(name)
        if held.options.priorities is None:
            raise Refused(409, f"buffer {name!r} has no priorities: it was opened without them")
        if ids.ndim != 1 or ids.shape != errors.shape or ids.dtype != np.int64 or errors.dtype != np.float32:
            raise Refused(400, "ids must be int64 [rows] and errors float32 [rows], with as many rows")
        if len(ids) and not (ids.min() >= 0 and ids.max() < held.added):
            raise Refused(400, f"ids must be 0 to {held.added - 1}, as Sample gave them")
        if not np.isfinite(errors).all():
            raise Refused(400, "errors must be finite")
        held.buffer.feedback(ids, errors)
        return held

    def _reserve(self, more: int, what: str) -> None:
        used = sum(held.bytes for held in self._buffers.values())
        if used + more > self._memory:
            raise Refused(
                429,
                f"{what} takes {math.ceil(more / 1e6)} MB; of {self._memory / 1e6:.0f} MB for all buffers "
                f"{used / 1e6:.0f} are taken",
            )


def _check_links(new: Experience) -> None:
    rows = len(new)
    links = new.next_row
    if links.shape != (rows,) or (links < PENDING).any() or (links >= rows).any():
        raise Refused(400, f"columns: next_row must name a row below {rows}, or be -1 or -2")
    if ((links >= 0) & (links <= np.arange(rows))).any():
        raise Refused(400, "columns: next_row must name a later row, or be -1 or -2")
