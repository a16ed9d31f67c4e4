"""Builds trajectories from decisions, rewards and ends of games.

It is independent of the game loop: a vectorised loop adds a thousand rows at a time, a remote game one.

See docs/decisions/rollouts-and-matches.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.inference.actor import Columns
from workers.rollout.batch import PENDING, TERMINAL, Experience

_NO_ROW = -1
"""The latest row of a stream without a decision: the very last row, which no batch has, absorbs its writes."""


class _Rows:
    """The buffers of one batch."""

    def __init__(self, capacity: int) -> None:
        self.columns: dict[str, NDArray[Any]] = {}
        self.streams = np.empty(capacity, np.int64)
        self.acted_by = np.empty(capacity, np.int64)
        self.rewards = np.zeros(capacity + 1, np.float32)
        self.next_row = np.full(capacity + 1, PENDING, np.int64)

    def allocate(self, like: Columns) -> None:
        """Make the columns for rows like these."""
        capacity = len(self.streams)
        self.columns = {name: np.empty((capacity, *rows.shape[1:]), rows.dtype) for name, rows in like.items()}

    def grow(self, capacity: int) -> None:
        """Make room for this many rows."""
        if capacity <= len(self.streams):
            return
        larger = _Rows(capacity)
        larger.allocate(self.columns)
        for new, old in ((larger.columns[name], column) for name, column in self.columns.items()):
            new[: len(old)] = old
        for name in ("streams", "acted_by", "rewards", "next_row"):
            old = getattr(self, name)[: len(self.streams)]
            getattr(larger, name)[: len(old)] = old
        vars(self).update(vars(larger))


class TrajectoryBuilder:
    """Collects decisions of many streams (one per table and seat) into batches with links along each stream.

    A decision whose successor is unknown when a batch is taken is carried over to the next batch, so none is lost. The
    first decisions added say which columns there are.
    """

    def __init__(self, *, streams: int, capacity: int, teams: tuple[int, ...] = (0,)) -> None:
        # Two sets of rows in turn: a batch stays valid while the next one is being filled.
        self._filling, self._spare = _Rows(capacity + streams), _Rows(capacity + streams)
        self._teams = teams
        self.capacity = capacity
        self._room = capacity + streams
        self._last = np.full(streams, _NO_ROW, np.int64)
        self._earned = np.zeros(streams, np.float32)
        self._count = 0
        self._carried = self._finals = 0
        self._offsets = [0]

    def __len__(self) -> int:
        """Decisions added since the last batch was taken."""
        return self._count - self._carried - self._finals

    def add(self, streams: NDArray[np.int64], columns: Columns, acted_by: int = 0) -> None:
        """Record one decision for each of these streams, all different."""
        start, end = self._count, self._count + len(streams)
        if end > self._room:
            raise ValueError(f"room for {self.capacity} decisions, {end - self._carried} were added")
        self._write(streams, columns, acted_by)
        rows = np.arange(start, end)
        self._close(streams, rows)
        self._last[streams] = rows

    def earn(self, rewards: NDArray[np.float32], streams: NDArray[np.int64] | None = None) -> None:
        """Credit rewards, of all streams or of these, to their latest decisions."""
        if streams is None:
            self._earned += rewards
        else:
            self._earned[streams] += rewards

    def end(self, streams: NDArray[np.int64]) -> None:
        """End these streams: their games are over by the rules."""
        self._close(streams, TERMINAL)
        self._last[streams] = _NO_ROW

    def truncate(self, streams: NDArray[np.int64]) -> NDArray[np.int64]:
        """End these streams: their games were truncated. Returns the rows of their last decisions, -1 where none is.

        A decision that gets no final observation only bootstraps the one before it.
        """
        rows = self._last[streams]
        self._close(streams, PENDING)
        self._last[streams] = _NO_ROW
        return rows

    def add_finals(
        self, rows: NDArray[np.int64], streams: NDArray[np.int64], columns: Columns, acted_by: int = 0
    ) -> None:
        """Give the decisions `rows`, the last of their truncated games, these final observations as successors.

        They are the last rows of a batch: `take` follows.
        """
        start = self._count
        self._filling.grow(start + len(rows))
        self._write(streams, columns, acted_by)
        self._filling.next_row[rows] = np.arange(start, self._count)
        self._finals += len(rows)

    def restart(self) -> None:
        """Forget decisions that wait for a successor, and what was earned since: their games have been dropped."""
        self._last[:] = _NO_ROW
        self._earned[:] = 0.0
        self._count = self._carried = 0
        self._offsets = [0]

    def take(self) -> Experience:
        """The batch so far, valid until the second `take` from now."""
        rows, count = self._filling, self._count
        columns = {name: column[:count] for name, column in rows.columns.items()}
        batch = Experience(
            columns={**columns, "reward": rows.rewards[:count]},
            next_row=rows.next_row[:count],
            offsets=np.array(self._offsets, np.int64),
            streams=rows.streams[:count],
            acted_by=rows.acted_by[:count],
            carried=np.arange(self._carried),
            finals=np.arange(count - self._finals, count),
            tables=len(self._last) // len(self._teams),
            teams=self._teams,
        )
        self._carry_over()
        return batch

    def _allocate(self, columns: Columns) -> None:
        had = self._filling.columns
        if had:
            raise ValueError(f"the first decisions had the columns {', '.join(had)}; these have {', '.join(columns)}")
        self._filling.allocate(columns)
        self._spare.allocate(columns)

    def _write(self, streams: NDArray[np.int64], columns: Columns, acted_by: int) -> None:
        """Write rows of one step."""
        start, end = self._count, self._count + len(streams)
        into = self._filling
        if into.columns.keys() != columns.keys():
            self._allocate(columns)
        for name, rows in columns.items():
            into.columns[name][start:end] = rows
        into.streams[start:end] = streams
        into.acted_by[start:end] = acted_by
        self._count = end
        self._offsets.append(end)

    def _close(self, streams: NDArray[np.int64], link: NDArray[np.int64] | int) -> None:
        """Write the rewards and the link of the latest decision of each stream."""
        latest = self._last[streams]
        self._filling.next_row[latest] = link
        self._filling.rewards[latest] = self._earned[streams]
        self._earned[streams] = 0.0

    def _carry_over(self) -> None:
        waiting = np.flatnonzero(self._last != _NO_ROW)
        rows = self._last[waiting]
        source, target = self._filling, self._spare
        count = len(waiting)
        for name, column in source.columns.items():
            target.columns[name][:count] = column[rows]
        target.streams[:count] = source.streams[rows]
        target.acted_by[:count] = source.acted_by[rows]
        target.next_row[:] = PENDING
        target.rewards[:] = 0.0
        self._last[waiting] = np.arange(count)
        self._filling, self._spare = target, source
        self._count = self._carried = count
        self._finals = 0
        self._offsets = [0, count] if count else [0]
