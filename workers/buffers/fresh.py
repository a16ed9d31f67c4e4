"""A buffer of the newest experience only, for on-policy algorithms. It copies nothing."""

from __future__ import annotations

import numpy as np

from workers.buffers.contract import Buffer, Draw
from workers.rollout.batch import Experience


class Fresh(Buffer):
    """Holds the batch of the present update."""

    remembers = False

    def __init__(self, *, gamma: float = 1.0) -> None:
        self._gamma = np.float32(gamma)
        self._newest: Experience | None = None
        self._transitions: Experience | None = None

    @property
    def newest(self) -> Experience:
        assert self._newest is not None, "experience is added before it is read"
        return self._newest

    def add(self, new: Experience) -> None:
        self._newest, self._transitions = new, None

    def draw(self, rows: int, rng: np.random.Generator) -> Draw | None:
        """Rows of the newest batch with equal chances; None where none of its rows has a successor yet."""
        if self._transitions is None:
            self._transitions = self.newest.transitions()
        found = self._transitions
        if not len(found):
            return None
        ids = rng.integers(0, len(found), rows)
        columns = {name: column[ids] for name, column in found.columns.items()}
        columns["discount"] = np.where(columns.pop("terminal"), np.float32(0), self._gamma)
        return Draw(columns=columns, ids=ids, weights=np.ones(rows, np.float32))
