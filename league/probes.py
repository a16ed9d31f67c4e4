"""How exploitable a version is at least: the win rate that fresh best responders reach against it.

The best of several responders is picked by the same games that measure it, so each interval leaves out only its part
of the error (Bonferroni): the largest lower end is a bound for the best responder too.

See docs/decisions/gates.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from league.errors import InvalidInput

ERROR = 0.05
"""How often the bound may be too high."""


@dataclass(frozen=True, kw_only=True)
class Games:
    """A responder's results against one part of the target, and the part's weight in it."""

    weight: float
    wins: int
    draws: int
    losses: int

    @property
    def played(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def rate(self) -> float:
        """Draws count as half a win."""
        return (self.wins + self.draws / 2) / self.played

    def smoothed(self, z: float) -> tuple[float, float]:
        """The mean and its variance with z² / 2 wins and losses more (Agresti and Coull): no rate is certain."""
        more = z * z / 2
        games = self.played + 2 * more
        mean = (self.wins + self.draws / 2 + more) / games
        squares = (self.wins + more) * (1 - mean) ** 2 + self.draws * (0.5 - mean) ** 2
        squares += (self.losses + more) * mean**2
        return mean, squares / games / games


@dataclass(frozen=True, kw_only=True)
class Exploited:
    """A win rate against the target, and its interval."""

    win_rate: float
    low: float
    high: float
    games: int


def exploited(parts: Sequence[Games], *, responders: int, error: float = ERROR) -> Exploited:
    """The win rate of one of several responders against a version, or a mixture of them."""
    if not parts or any(part.played < 1 for part in parts):
        raise InvalidInput("a probe needs games against every part of its target")
    if not math.isclose(sum(part.weight for part in parts), 1.0, abs_tol=1e-6):
        raise InvalidInput(f"the weights of a target add up to 1, not {sum(part.weight for part in parts):g}")
    z = NormalDist().inv_cdf(1 - error / (2 * responders))
    smoothed = [(part.weight, *part.smoothed(z)) for part in parts]
    mean = sum(weight * each for weight, each, _ in smoothed)
    spread = z * math.sqrt(sum(weight * weight * variance for weight, _, variance in smoothed))
    return Exploited(
        win_rate=sum(part.weight * part.rate for part in parts),
        low=max(0.0, mean - spread),
        high=min(1.0, mean + spread),
        games=sum(part.played for part in parts),
    )


def best_responder(found: Sequence[Exploited]) -> int:
    """The responder whose interval begins highest; of equals the first."""
    return max(range(len(found)), key=lambda number: (found[number].low, -number))
