"""Sample batches as flat arrays: one row per decision, linked along each seat's trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TERMINAL = -1
"""Link of a decision after which the game ended."""
PENDING = -2
"""Link of a decision whose successor is not known: its value bootstraps others, it is not trained on."""


@dataclass(frozen=True, kw_only=True)
class SampleBatch:
    """Decisions in the order they were taken. Plain arrays, so that Ray moves them without copying."""

    observations: NDArray[np.float32]
    legal: NDArray[np.bool_]
    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    """Of the action, under the policy that took it."""
    values: NDArray[np.float32]
    """That policy's value estimate of the position."""
    rewards: NDArray[np.float32]
    """Everything the seat earned from this decision until its next one."""
    next_row: NDArray[np.int64]
    """The row of the same seat's next decision in the same game, or TERMINAL, or PENDING."""
    offsets: NDArray[np.int64]
    """Where each step's rows begin, and the end: a link never leads to an earlier step or the same one."""
    streams: NDArray[np.int64]
    """Which seat at which table: table * seats + seat."""
    states: NDArray[np.float32]
    """The state a recurrent policy had before each decision; [rows, 0] for others."""

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def trainable(self) -> NDArray[np.int64]:
        """Rows to train on: all whose successor is known."""
        return np.flatnonzero(self.next_row != PENDING)

    @property
    def trainable_rows(self) -> int:
        """How many rows are `trainable`."""
        return int(np.count_nonzero(self.next_row != PENDING))


def merge(batches: Sequence[SampleBatch]) -> SampleBatch:
    """Several batches as one; their links keep streams separate."""
    if len(batches) == 1:
        return batches[0]
    starts = np.cumsum([0, *(len(batch) for batch in batches[:-1])])
    columns = {
        name: np.concatenate([getattr(batch, name) for batch in batches])
        for name in ("observations", "legal", "actions", "log_probs", "values", "rewards", "streams", "states")
    }
    links = [np.where(b.next_row >= 0, b.next_row + s, b.next_row) for b, s in zip(batches, starts, strict=True)]
    steps = [b.offsets[1:] + s for b, s in zip(batches, starts, strict=True)]
    return SampleBatch(
        **columns, next_row=np.concatenate(links), offsets=np.concatenate([np.zeros(1, np.int64), *steps])
    )


def __getattr__(name: str) -> object:
    """`gae` and `Targets` under their earlier address, for users' own algorithms."""
    if name in ("gae", "Targets"):
        from workers.algorithms import gae  # imports this module

        return getattr(gae, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
