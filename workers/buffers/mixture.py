"""Weighted mixtures of buffers, as of one's own games with a data set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workers.buffers.contract import Buffer, Draw, State
from workers.rollout.batch import Experience


class Mixture(Buffer):
    """Draws from several buffers in the proportion of their weights; all take in what is played."""

    def __init__(self, parts: Sequence[tuple[Buffer, float]]) -> None:
        weights = np.array([weight for _, weight in parts], np.float64)
        if not len(parts) or (weights <= 0).any():
            raise ValueError("a mixture needs at least one buffer, and weights above 0")
        self._buffers = [buffer for buffer, _ in parts]
        self._ladder = np.cumsum(weights / weights.sum())
        self.kept = any(buffer.kept for buffer in self._buffers)
        self.remembers = any(buffer.remembers for buffer in self._buffers)

    @property
    def newest(self) -> Experience:
        return self._buffers[0].newest

    @property
    def nbytes(self) -> int:
        return sum(buffer.nbytes for buffer in self._buffers)

    def bytes_when_full(self, like: Experience) -> int:
        return sum(buffer.bytes_when_full(like) for buffer in self._buffers)

    def add(self, new: Experience) -> None:
        for buffer in self._buffers:
            buffer.add(new)

    def draw(self, rows: int, rng: np.random.Generator) -> Draw | None:
        """Rows of every part; a part that is still warming up is left out."""
        # systematic sampling: each part's share is exact up to one row
        chosen = np.searchsorted(self._ladder, (np.arange(rows) + rng.random()) / rows, side="right")
        counts = np.bincount(np.minimum(chosen, len(self._buffers) - 1), minlength=len(self._buffers))
        drawn = [
            (place, part)
            for place, (buffer, count) in enumerate(zip(self._buffers, counts.tolist(), strict=True))
            if count and (part := buffer.draw(count, rng)) is not None
        ]
        if not drawn:
            return None
        shared = set.intersection(*(set(part.columns) for _, part in drawn))
        return Draw(
            columns={name: np.concatenate([part.columns[name] for _, part in drawn]) for name in sorted(shared)},
            ids=np.concatenate([part.ids * len(self._buffers) + place for place, part in drawn]),
            weights=np.concatenate([part.weights for _, part in drawn]),
        )

    def feedback(self, ids: NDArray[np.int64], error: NDArray[np.float32]) -> None:
        for place, buffer in enumerate(self._buffers):
            mine = ids % len(self._buffers) == place
            buffer.feedback(ids[mine] // len(self._buffers), error[mine])

    def state(self) -> State:
        return {
            f"{place}/{name}": value
            for place, buffer in enumerate(self._buffers)
            for name, value in buffer.state().items()
            if buffer.remembers
        }

    def load(self, state: State) -> None:
        for place, buffer in enumerate(self._buffers):
            if buffer.remembers:
                prefix = f"{place}/"
                buffer.load({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})
