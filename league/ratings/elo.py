"""Online Elo, updated game by game, for the live view. It depends on the order of games."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from league.errors import InvalidInput
from league.validation import between, finite


@dataclass(frozen=True)
class LiveElo:
    """Online ratings; for a live view only, never for a decision or a report."""

    ratings: Mapping[Any, float]
    games: int
    label: str = "live: depends on the order of games"


def elo_expected(rating: float, opponent: float) -> float:
    """1 / (1 + 10^((Rb - Ra) / 400)), for any finite ratings."""
    gap = (finite(opponent, "rating") - finite(rating, "rating")) / 400
    return 1 / (1 + 10.0**gap) if gap < 300 else 0.0


def elo_online(
    games: Iterable[tuple[Any, Any, float]],
    *,
    k: float = 16.0,
    start: float = 0.0,
    ratings: Mapping[Any, float] | None = None,
) -> LiveElo:
    """Ratings after games (a, b, a's score), one after the other, unrounded, from `ratings` on."""
    if not (math.isfinite(k) and k > 0):
        raise InvalidInput(f"k must be a positive number, got {k!r}")
    now = dict(ratings or {})
    count = 0
    for a, b, score in games:
        if a == b:
            raise InvalidInput(f"{a!r} against itself is not a rating game")
        between(score, 0, 1, "score")
        first, second = now.setdefault(a, start), now.setdefault(b, start)
        change = k * (score - elo_expected(first, second))
        now[a], now[b] = first + change, second - change
        count += 1
    return LiveElo(now, count)
