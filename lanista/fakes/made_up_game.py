"""A game of made-up numbers: observations and rewards as its spaces allow them, and games that end at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame
from workers.games.spaces import Observations, Part

FUNCTIONS = ("observations", "rewards")
"""What a script may define: observations(rows, rng) as the game's space has them, rewards(tables, seats, rng)."""


class MadeUpGame(VectorGame):
    """Stands in for a game whose spaces are known. Nothing in it depends on the actions."""

    def __init__(
        self,
        spec: GameSpec,
        tables: int,
        *,
        mean_length: int = 20,
        script: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        super().__init__(spec, tables)
        self._script = dict(script or {})
        self._rng = np.random.default_rng(0)
        self._mean_length = min(mean_length, spec.max_steps)
        self._mover = np.zeros(tables, np.int64)
        self._parts = spec.observation_parts

    def begin(self, tables: NDArray[np.int64]) -> None:
        self._mover[tables] = 0

    def turn(self) -> Turn:
        everywhere = np.arange(self.tables)
        if not self.spec.simultaneous:
            return Turn(everywhere, self._mover.copy(), self._observations(self.tables), None)
        rows = self.tables * self.spec.seats
        seats = np.tile(np.arange(self.spec.seats), self.tables)
        return Turn(np.repeat(everywhere, self.spec.seats), seats, self._observations(rows), None)

    def advance(self, actions: NDArray[Any]) -> StepResult:
        self._mover = (self._mover + 1) % self.spec.seats
        done = self._rng.random(self.tables) < 1 / self._mean_length
        done |= self.plies + 1 >= self.spec.max_steps
        return StepResult(self._rewards(), done, np.zeros(self.tables, np.bool_))

    def global_state(self) -> NDArray[Any]:
        assert self.spec.state is not None
        return _random(
            Part(self.spec.state, tuple(self.spec.state.shape or ()), np.dtype(np.float32)), self.tables, self._rng
        )

    def render_text(self, table: int, seat: int | None = None) -> str:
        return f"{self.spec.id}, made up, step {self.plies[table]}"

    def _observations(self, rows: int) -> Observations:
        if "observations" in self._script:
            return self._script["observations"](rows, self._rng)
        made = {name: _random(part, rows, self._rng) for name, part in self._parts.items()}
        return made[""] if list(made) == [""] else made

    def _rewards(self) -> NDArray[np.float32]:
        shape = (self.tables, self.spec.seats)
        if "rewards" in self._script:
            return np.asarray(self._script["rewards"](*shape, self._rng), np.float32)
        return self._rng.normal(size=shape).astype(np.float32)


def _random(part: Part, rows: int, rng: np.random.Generator) -> NDArray[Any]:
    """Rows uniform in the part's space; numbers without bounds are normal."""
    shape, space = (rows, *part.shape), part.space
    if isinstance(space, spaces.Discrete):
        return rng.integers(space.start, space.start + space.n, shape).astype(part.dtype)
    if isinstance(space, spaces.MultiDiscrete):
        return rng.integers(space.start, space.start + space.nvec, shape).astype(part.dtype)
    if isinstance(space, spaces.MultiBinary):
        return rng.integers(0, 2, shape).astype(part.dtype)
    assert isinstance(space, spaces.Box)
    bounded = space.bounded_below & space.bounded_above
    low, high = np.where(bounded, space.low, 0.0), np.where(bounded, space.high, 1.0)
    drawn = np.where(bounded, rng.uniform(low, high, shape), rng.normal(size=shape))
    return np.clip(drawn, space.low, space.high).astype(part.dtype)
