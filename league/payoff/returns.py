"""Returns of single-seat games, which have no wins: their number, mean and squared deviations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from league.validation import finite_array, strictly_between


@dataclass(frozen=True)
class Returns:
    """Games, mean return, and the sum of squared deviations from that mean."""

    games: int = 0
    mean: float = 0.0
    deviations: float = 0.0

    def plus(self, returns: ArrayLike) -> Returns:
        """These returns and more; merging means and deviations is numerically stable, summing squares is not."""
        batch = finite_array(returns, "returns", dimensions=1)
        if not batch.size:
            return self
        mean = float(batch.mean())
        return self.merged(Returns(batch.size, mean, float(np.square(batch - mean).sum())))

    def merged(self, other: Returns) -> Returns:
        """These returns and others, counted separately."""
        games = self.games + other.games
        if not games:
            return self
        gap = other.mean - self.mean
        return Returns(
            games,
            self.mean + gap * other.games / games,
            self.deviations + other.deviations + gap * gap * self.games * other.games / games,
        )

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Student's interval of the mean; unbounded below two games."""
        # imported here: rollout processes count returns and need not load scipy
        from scipy.stats import t as student

        strictly_between(level, 0, 1, "level")
        if self.games < 2:
            return -math.inf, math.inf
        error = math.sqrt(self.deviations / (self.games - 1) / self.games)
        half = float(student.ppf((1 + level) / 2, self.games - 1)) * error
        return self.mean - half, self.mean + half
