"""Prioritised replay (Schaul et al., 2016): rows are drawn in proportion to a power of their last TD error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.buffers.columns import Slots
from workers.buffers.contract import State
from workers.buffers.replay import Replay
from workers.rollout.batch import Experience


class SumTree:
    """Numbers in the leaves of a binary tree whose nodes hold the sums below them.

    A set or a search of many leaves is a few numpy operations for each level of the tree.
    """

    def __init__(self, leaves: int) -> None:
        self._depth = max(1, int(np.ceil(np.log2(leaves))))
        self._first = 1 << self._depth
        self._nodes = np.zeros(2 * self._first, np.float64)

    @property
    def total(self) -> float:
        return float(self._nodes[1])

    def get(self, leaves: Slots) -> NDArray[np.float64]:
        """The numbers of these leaves."""
        return self._nodes[self._first + leaves]

    def set(self, leaves: Slots, values: NDArray[np.float64] | float) -> None:
        """Set these leaves; of a leaf named twice, the last value counts."""
        nodes = self._first + leaves
        self._nodes[nodes] = values
        for _ in range(self._depth):
            nodes = nodes >> 1
            self._nodes[nodes] = self._nodes[2 * nodes] + self._nodes[2 * nodes + 1]

    def find(self, points: NDArray[np.float64]) -> Slots:
        """The leaf at which the running sum of all leaves passes each point."""
        nodes = np.ones(len(points), np.int64)
        left = points.copy()
        for _ in range(self._depth):
            nodes *= 2
            below = self._nodes[nodes]
            # a leaf of 0 is never found, even where rounding puts a point at the very end
            right = (left >= below) & (self._nodes[nodes + 1] > 0.0)
            left -= np.where(right, below, 0.0)
            nodes += right
        return nodes - self._first


class Prioritised(Replay):
    """Rows are drawn in proportion to |error| ** alpha, and weighted by (rows * chance) ** -beta, at most 1."""

    def __init__(self, *, capacity: int, alpha: float = 0.6, beta: float = 0.4, **options: Any) -> None:
        super().__init__(capacity=capacity, **options)
        if not (0.0 <= alpha <= 1.0 and 0.0 <= beta <= 1.0):
            raise ValueError(f"alpha and beta must lie between 0 and 1, not {alpha} and {beta}")
        self._alpha, self._beta = alpha, beta
        self._tree = SumTree(capacity)
        self._largest = 1.0

    def feedback(self, ids: NDArray[np.int64], error: NDArray[np.float32]) -> None:
        there = ids >= self._count - len(self)
        priorities = (np.abs(error[there].astype(np.float64)) + 1e-6) ** self._alpha
        if len(priorities):
            self._largest = max(self._largest, float(priorities.max()))
            self._tree.set(ids[there] % self.capacity, priorities)

    @property
    def nbytes(self) -> int:
        return super().nbytes + self._tree._nodes.nbytes

    def bytes_when_full(self, like: Experience) -> int:
        return super().bytes_when_full(like) + self._tree._nodes.nbytes

    def state(self) -> State:
        leaves = self._tree.get(np.arange(len(self)))
        return {**super().state(), "priorities": leaves, "largest": self._largest}

    def load(self, state: State) -> None:
        super().load(state)
        self._tree.set(np.arange(len(self)), state["priorities"])
        self._largest = float(state["largest"])

    def _choose(self, rows: int, rng: np.random.Generator) -> tuple[Slots, NDArray[np.float32]]:
        points = (np.arange(rows) + rng.random(rows)) * (self._tree.total / rows)
        slots = self._tree.find(points)
        chances = self._tree.get(slots) / self._tree.total
        weights = (self._drawable * chances) ** -self._beta
        # the row of a slot is the newest with this remainder
        numbers = self._count - 1 - (self._count - 1 - slots) % self.capacity
        return numbers, (weights / weights.max()).astype(np.float32)

    def _became_known(self, slots: Slots) -> None:
        self._tree.set(slots, self._largest)

    def _forget(self, slots: Slots) -> None:
        super()._forget(slots)
        self._tree.set(slots, 0.0)
