"""Replay: the last decisions of a player, drawn with equal chances.

Each decision is stored once, and so is the final observation of a truncated game. A successor is a link to another row,
not a copy of the observation: a decision is always older than its successor, so a row that is still in the ring has its
successor there too.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from workers.buffers.columns import Column, CompressedColumn, PlainColumn, Slots
from workers.buffers.contract import Buffer, Draw, State
from workers.inference.actor import STATE
from workers.rollout.batch import PENDING, TERMINAL, Experience

NEXT = ("obs", "legal", STATE, "global")
"""Columns of which a draw has the successor's row too."""


class Replay(Buffer):
    """A ring of decisions; n-step returns are summed when rows are drawn."""

    next_columns: ClassVar[tuple[str, ...]] = NEXT
    """Columns of which a draw has the successor's row too, as "next/<name>"."""

    def __init__(
        self,
        *,
        capacity: int,
        gamma: float = 1.0,
        n_step: int = 1,
        warm_up: int = 1,
        kept: bool = False,
        compressed: bool = False,
    ) -> None:
        """`warm_up`: decisions that it must hold before rows can be drawn."""
        if min(capacity, n_step) < 1 or warm_up > capacity:
            raise ValueError(f"a buffer of {capacity} decisions cannot have n_step {n_step} and warm_up {warm_up}")
        self.capacity, self.n_step, self.kept = capacity, n_step, kept
        self._gamma, self._warm_up, self._compressed = np.float32(gamma), max(1, warm_up), compressed
        self._columns: dict[str, Column] = {}
        # memory is taken with the first rows: a buffer that only says how large it would be takes none
        self._rewards = np.zeros(0, np.float32)
        self._next = np.zeros(0, np.int64)
        """The number of each row's successor; rows are numbered in the order in which they were added."""
        self._count = 0
        """Rows ever added."""
        self._drawable = 0
        self._pending: dict[int, int] = {}
        """By stream: the number of its latest row, if its successor is to come."""
        self._newest: Experience | None = None

    def __len__(self) -> int:
        return min(self._count, self.capacity)

    @property
    def drawable(self) -> int:
        """Decisions whose successors are known."""
        return self._drawable

    @property
    def newest(self) -> Experience:
        assert self._newest is not None, "experience is added before it is read"
        return self._newest

    def release_newest(self) -> None:
        """Give up what `newest` shows, where nobody reads it: it may be as large as a message."""
        self._newest = None

    @property
    def nbytes(self) -> int:
        return self._rewards.nbytes + self._next.nbytes + sum(column.nbytes for column in self._columns.values())

    def bytes_when_full(self, like: Experience) -> int:
        """See `Buffer`; compressed observations are taken to shrink as these do."""
        rows = len(like)
        used = rows * (self._rewards.itemsize + self._next.itemsize)
        for name, column in like.columns.items():
            if name != "reward":
                made = self._column(name, rows, column)
                made.write(np.arange(rows), column)
                used += made.nbytes
        return -(-used * self.capacity // max(1, rows))

    def add(self, new: Experience) -> None:
        self._newest = new
        numbers, fresh = self._number(new)
        if len(fresh) > self.capacity:
            raise ValueError(f"an update adds {len(fresh)} decisions; raise capacity, which is {self.capacity}")
        slots = numbers % self.capacity
        if not self._columns:
            self._allocate(new)
        self._forget(slots[fresh])
        for name, column in self._columns.items():
            column.write(slots[fresh], new.columns[name][fresh])
        self._rewards[slots] = new.rewards
        self._next[slots] = np.where(new.next_row >= 0, numbers[new.next_row], new.next_row)
        known = new.next_row != PENDING
        self._drawable += int(np.count_nonzero(known))
        self._became_known(slots[known])
        waiting = ~known
        waiting[new.finals] = False  # nothing follows a final observation
        # Streams without rows in this batch keep waiting: their next decisions may be in a later one.
        for stream in new.streams[new.carried].tolist():
            self._pending.pop(stream, None)
        self._pending.update(zip(new.streams[waiting].tolist(), numbers[waiting].tolist(), strict=True))

    def draw(self, rows: int, rng: np.random.Generator) -> Draw | None:
        if self._drawable < self._warm_up:
            return None
        numbers, weights = self._choose(rows, rng)
        return Draw(columns=self._gather(numbers % self.capacity), ids=numbers, weights=weights)

    def state(self) -> State:
        size = len(self)
        found: dict[str, Any] = {
            f"columns/{name}/{part}": array
            for name, column in self._columns.items()
            for part, array in column.state(size).items()
        }
        for name, column in self._columns.items():
            row = column.read(np.zeros(1, np.int64))
            found[f"like/{name}"] = {"shape": list(row.shape[1:]), "dtype": row.dtype.str}
        pending = np.array(list(self._pending.items()), np.int64).reshape(-1, 2)
        return found | {
            "reward": self._rewards[:size],
            "next": self._next[:size],
            "pending": pending,
            "count": self._count,
            "drawable": self._drawable,
        }

    def load(self, state: State) -> None:
        size = len(state["reward"])
        if size > self.capacity or size < min(int(state["count"]), self.capacity):
            raise ValueError(f"a stored buffer of {size} decisions does not fit a capacity of {self.capacity}")
        self._allocate_links()
        self._rewards[:size], self._next[:size] = state["reward"], state["next"]
        self._count, self._drawable = int(state["count"]), int(state["drawable"])
        self._pending = {int(stream): int(number) for stream, number in state["pending"]}
        for key, like in state.items():
            if key.startswith("like/"):
                name = key.removeprefix("like/")
                self._make(name, np.zeros((0, *like["shape"]), like["dtype"]))
                prefix = f"columns/{name}/"
                parts = {part[len(prefix) :]: v for part, v in state.items() if part.startswith(prefix)}
                self._columns[name].load({part: v for part, v in parts.items() if "/" not in part})

    # What buffers with other chances change

    def _choose(self, rows: int, rng: np.random.Generator) -> tuple[Slots, NDArray[np.float32]]:
        """Numbers of rows to draw, and their weights."""
        size = len(self)
        numbers = rng.integers(self._count - size, self._count, rows)
        # few rows have no successor yet: these are drawn again
        while len(wrong := np.flatnonzero(self._next[numbers % self.capacity] == PENDING)):
            numbers[wrong] = rng.integers(self._count - size, self._count, len(wrong))
        return numbers, np.ones(rows, np.float32)

    def _became_known(self, slots: Slots) -> None:
        """The successors of these rows are known from now on."""

    def _forget(self, slots: Slots) -> None:
        """These slots get new rows."""
        self._drawable -= int(np.count_nonzero(self._next[slots] != PENDING))
        self._next[slots] = PENDING

    # Rows

    def _number(self, new: Experience) -> tuple[Slots, Slots]:
        """A number for each row, and which rows are new: carried ones were added with the batch before."""
        numbers = np.full(len(new), -1, np.int64)
        oldest = self._count - len(self)
        for row in new.carried.tolist():
            number = self._pending.get(int(new.streams[row]), -1)
            numbers[row] = number if number >= oldest else -1
        fresh = np.flatnonzero(numbers < 0)
        numbers[fresh] = np.arange(self._count, self._count + len(fresh))
        self._count += len(fresh)
        return numbers, fresh

    def _allocate(self, new: Experience) -> None:
        self._allocate_links()
        for name, rows in new.columns.items():
            if name != "reward":
                self._make(name, rows)

    def _allocate_links(self) -> None:
        self._rewards = np.zeros(self.capacity, np.float32)
        self._next = np.full(self.capacity, PENDING, np.int64)

    def _make(self, name: str, like: NDArray[Any]) -> None:
        self._columns[name] = self._column(name, self.capacity, like)

    def _column(self, name: str, capacity: int, like: NDArray[Any]) -> Column:
        packed = self._compressed and (name == "obs" or name.startswith("obs/"))
        return (CompressedColumn if packed else PlainColumn)(capacity, like)

    def _gather(self, slots: Slots) -> dict[str, NDArray[Any]]:
        """The rows of these slots, their n-step rewards and the rows that follow."""
        rewards, discount = self._rewards[slots], np.full(len(slots), self._gamma)
        after = self._next[slots]
        for _ in range(self.n_step - 1):
            following = after % self.capacity
            further = (after >= 0) & (self._next[following] != PENDING)
            rewards += np.where(further, discount * self._rewards[following], np.float32(0))
            discount = np.where(further, discount * self._gamma, discount)
            after = np.where(further, self._next[following], after)
        ended = after == TERMINAL
        found = {name: column.read(slots) for name, column in self._columns.items()}
        for name, column in self._columns.items():
            if name.partition("/")[0] in self.next_columns:
                rows = column.read(np.where(ended, slots, after % self.capacity))
                rows[ended] = 0
                found[f"next/{name}"] = rows
        return {**found, "reward": rewards, "discount": np.where(ended, np.float32(0), discount)}
