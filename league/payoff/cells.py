"""One payoff cell: decayed wins, draws and losses beside the raw count, and the arithmetic on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from league.errors import InvalidInput
from league.types import Earned
from league.validation import finite, strictly_between, whole_count


@dataclass(frozen=True, slots=True)
class Cell:
    """Decayed results of one player against another in one seating; `games` is the raw count."""

    wins: float = 0.0
    draws: float = 0.0
    losses: float = 0.0
    games: int = 0
    earned: Earned | None = None
    """Returns of both sides, decayed like the results; None where some game came without its returns."""

    @property
    def weight(self) -> float:
        """The decayed number of games, at most 1 / (1 - decay)."""
        # decided games first: both sides get the same sum to the last bit, and an even score is exactly one half
        return (self.wins + self.losses) + self.draws

    @property
    def win_rate(self) -> float:
        """(W + D/2) / (W + D + L); 0.5 without a game."""
        weight = self.weight
        return (self.wins + self.draws / 2) / weight if weight > 0 else 0.5

    @property
    def margin(self) -> float | None:
        """Half the difference of the two sides' mean returns; None where returns are missing."""
        return None if self.earned is None or self.weight <= 0 else self.earned.margin / self.weight

    def mirrored(self) -> Cell:
        """The same games from the other side."""
        earned = None if self.earned is None else self.earned.mirrored()
        return Cell(self.losses, self.draws, self.wins, self.games, earned)


def decay_of_memory(memory_games: float) -> float:
    """The decay per game that remembers about `memory_games` games: 1 - 1/m."""
    memory = finite(memory_games, "memory_games")
    if memory <= 1:
        raise InvalidInput(f"memory_games must be more than 1, got {memory_games!r}")
    return 1 - 1 / memory


def decayed(cell: Cell, wins: int, draws: int, losses: int, decay: float, earned: Earned | None = None) -> Cell:
    """`cell` after a batch whose results are taken as evenly interleaved, in closed form.

    Each of W, D, L becomes old * g^n + share * (1 - g^n) / (1 - g); for equal results this equals n single
    updates. Returns of both sides are updated the same way, if they are known for all games.
    """
    wins, draws, losses = (
        whole_count(count, name) for count, name in ((wins, "wins"), (draws, "draws"), (losses, "losses"))
    )
    games = wins + draws + losses
    if games == 0:
        return cell
    if decay == 1:
        kept, scale = 1.0, 1.0
    else:
        # expm1 keeps 1 - g^n exact to the last digits for a memory of millions of games
        exponent = games * math.log1p(decay - 1)
        kept, scale = math.exp(exponent), -math.expm1(exponent) / (1 - decay) / games
    return Cell(
        cell.wins * kept + wins * scale,
        cell.draws * kept + draws * scale,
        cell.losses * kept + losses * scale,
        cell.games + games,
        _earned(Earned() if cell.games == 0 else cell.earned, kept, earned, scale),
    )


def _earned(before: Earned | None, kept: float, batch: Earned | None, scale: float) -> Earned | None:
    if before is None or batch is None:
        return None
    own, other = finite(batch.own, "own returns"), finite(batch.other, "the other's returns")
    return Earned(before.own * kept + own * scale, before.other * kept + other * scale)


def effective_games(games: int, decay: float) -> float:
    """The number of undecayed games with as much information: (1+g)(1-g^n) / ((1-g)(1+g^n)), n itself for g = 1."""
    if decay == 1 or games == 0:
        return float(games)
    exponent = games * math.log1p(decay - 1)
    return (1 + decay) / (1 - decay) * -math.expm1(exponent) / (1 + math.exp(exponent))


def wilson(rate: float, games: float, level: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval of a rate observed in `games` (effective) games; (0, 1) without any."""
    strictly_between(level, 0, 1, "level")
    if games <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    shrink = 1 / (1 + z * z / games)
    centre = (rate + z * z / (2 * games)) * shrink
    half = z * math.sqrt(rate * (1 - rate) / games + (z / (2 * games)) ** 2) * shrink
    return max(0.0, centre - half), min(1.0, centre + half)
