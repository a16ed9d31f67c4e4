"""Builds trajectories from decisions, rewards and ends of games.

It is independent of the game loop: a vectorised loop adds a thousand rows at a time, a remote game one.

See docs/decisions/rollouts.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workers.rollout.batch import PENDING, TERMINAL, SampleBatch


class _Rows:
    """The buffers of one batch. The row after the last absorbs writes for streams without a decision."""

    def __init__(self, capacity: int, shape: tuple[int, ...], actions: int, state_size: int) -> None:
        self.observations = np.empty((capacity, *shape), np.float32)
        self.legal = np.empty((capacity, actions), np.bool_)
        self.actions = np.empty(capacity, np.int64)
        self.log_probs = np.empty(capacity, np.float32)
        self.values = np.empty(capacity, np.float32)
        self.states = np.empty((capacity, state_size), np.float32)
        self.streams = np.empty(capacity, np.int64)
        self.rewards = np.zeros(capacity + 1, np.float32)
        self.next_row = np.full(capacity + 1, PENDING, np.int64)


_CARRIED = ("observations", "legal", "actions", "log_probs", "values", "states", "streams")


class TrajectoryBuilder:
    """Collects decisions of many streams (one per table and seat) into batches with links along each stream.

    A decision whose successor is unknown when a batch is taken is carried over to the next batch, so none is lost.
    """

    def __init__(
        self,
        *,
        streams: int,
        capacity: int,
        observation_shape: tuple[int, ...],
        actions: int,
        state_size: int = 0,
    ) -> None:
        # Two sets of rows in turn: a batch stays valid while the next one is being filled.
        self._filling, self._spare = (
            _Rows(capacity + streams, observation_shape, actions, state_size) for _ in range(2)
        )
        self.capacity = capacity
        self._none = capacity + streams
        self._last = np.full(streams, self._none, np.int64)
        self._earned = np.zeros(streams, np.float32)
        self._count = 0
        self._carried = 0
        self._offsets = [0]

    def __len__(self) -> int:
        """Decisions added since the last batch was taken."""
        return self._count - self._carried

    def add(
        self,
        streams: NDArray[np.int64],
        *,
        observations: NDArray[np.float32],
        legal: NDArray[np.bool_],
        actions: NDArray[np.int64],
        log_probs: NDArray[np.float32],
        values: NDArray[np.float32],
        states: NDArray[np.float32] | None = None,
    ) -> None:
        """Record one decision for each of these streams, all different."""
        start, end = self._count, self._count + len(streams)
        if end > self._none:
            raise ValueError(f"room for {self.capacity} decisions, {end - self._carried} were added")
        into = self._filling
        into.observations[start:end] = observations
        into.legal[start:end] = legal
        into.actions[start:end] = actions
        into.log_probs[start:end] = log_probs
        into.values[start:end] = values
        into.streams[start:end] = streams
        if states is not None:
            into.states[start:end] = states
        rows = np.arange(start, end)
        self._close(streams, rows)
        self._last[streams] = rows
        self._count = end
        self._offsets.append(end)

    def earn(self, rewards: NDArray[np.float32], streams: NDArray[np.int64] | None = None) -> None:
        """Credit rewards, of all streams or of these, to their latest decisions."""
        if streams is None:
            self._earned += rewards
        else:
            self._earned[streams] += rewards

    def end(self, streams: NDArray[np.int64]) -> None:
        """End these streams: their games are over by the rules."""
        self._close(streams, TERMINAL)
        self._last[streams] = self._none

    def cut(self, streams: NDArray[np.int64]) -> None:
        """End these streams: their games were truncated, so the last decision only bootstraps the one before it."""
        self._close(streams, PENDING)
        self._last[streams] = self._none

    def take(self) -> SampleBatch:
        """The batch so far, valid until the second `take` from now."""
        rows, count = self._filling, self._count
        batch = SampleBatch(
            **{name: getattr(rows, name)[:count] for name in _CARRIED},
            rewards=rows.rewards[:count],
            next_row=rows.next_row[:count],
            offsets=np.array(self._offsets, np.int64),
        )
        self._carry_over()
        return batch

    def _close(self, streams: NDArray[np.int64], link: NDArray[np.int64] | int) -> None:
        """Write the rewards and the link of the latest decision of each stream."""
        latest = self._last[streams]
        self._filling.next_row[latest] = link
        self._filling.rewards[latest] = self._earned[streams]
        self._earned[streams] = 0.0

    def _carry_over(self) -> None:
        waiting = np.flatnonzero(self._last != self._none)
        rows = self._last[waiting]
        source, target = self._filling, self._spare
        count = len(waiting)
        for name in _CARRIED:
            getattr(target, name)[:count] = getattr(source, name)[rows]
        target.next_row[:] = PENDING
        target.rewards[:] = 0.0
        self._last[waiting] = np.arange(count)
        self._filling, self._spare = target, source
        self._count = self._carried = count
        self._offsets = [0, count] if count else [0]
