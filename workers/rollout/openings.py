"""Random openings: some games start with random moves, so that self-play does not collapse onto a few lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import GameSpec


class BadOpenings(ValueError):
    """The rules of random openings cannot be used; the message says what is allowed."""


@dataclass(frozen=True, kw_only=True)
class OpeningRules:
    """How many self-play games start at random, and for how long at most. Random moves are not learnt from."""

    share: float = 0.5
    plies: int | None = None
    """None for a quarter of the game's longest course."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise BadOpenings(f"the share of random openings must lie between 0 and 1, not {self.share}")
        if self.plies is not None and self.plies < 0:
            raise BadOpenings(f"random opening plies must be 0 or more, not {self.plies}")

    def longest(self, spec: GameSpec) -> int:
        """Most random plies for this game; none where a random move would reveal hidden information or end the game."""
        if not spec.open_board or self.share == 0.0:
            return 0
        return spec.max_steps // 4 if self.plies is None else self.plies


class Openings:
    """Counts, per table, the random plies still to be played in its present game."""

    def __init__(self, rules: OpeningRules, spec: GameSpec, tables: int, rng: np.random.Generator) -> None:
        self._share = rules.share
        self._longest = rules.longest(spec)
        self._rng = rng
        self.left = np.zeros(tables, np.int64)
        self.begin(np.arange(tables))

    @property
    def active(self) -> bool:
        return self._longest > 0

    def begin(self, tables: NDArray[np.int64]) -> None:
        """Draw the openings of the new games at these tables."""
        if self.active:
            plies = self._rng.integers(1, self._longest + 1, len(tables))
            self.left[tables] = np.where(self._rng.random(len(tables)) < self._share, plies, 0)


def random_legal(legal: NDArray[np.bool_], draws: NDArray[np.float32]) -> NDArray[np.int64]:
    """One legal action per row, each equally likely."""
    ladder = legal.cumsum(1)
    wanted = (draws * ladder[:, -1]).astype(np.int64) + 1
    chosen: NDArray[np.int64] = (ladder < wanted[:, None]).sum(1)
    return chosen
