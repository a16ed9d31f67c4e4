"""How fast a league trains: steps made in the last minutes, whoever made them.

Players take turns on few crews, so the sum of their own speeds says more than the league makes. What counts is how many
steps became part of the league, or are about to, in a stretch of time that all players share.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

WINDOW_SECONDS = 300.0
"""Long enough that a player's turn does not show, short enough that a change does."""


@dataclass(frozen=True, slots=True)
class TrainedSpan:
    """Steps of one generation, recorded or under way, and the time they took (seconds of one clock)."""

    steps: int
    began: float
    ended: float

    def steps_since(self, since: float) -> float:
        """The steps made after a moment, if they were made evenly."""
        if self.began >= since:
            return float(self.steps)
        if self.ended <= since:
            return 0.0
        return self.steps * (self.ended - since) / (self.ended - self.began)


def steps_per_second(spans: Iterable[TrainedSpan], *, since: float, now: float) -> float:
    """Steps made between two moments, divided by the time between them; 0 if no time has passed."""
    if now <= since:
        return 0.0
    return sum(span.steps_since(since) for span in spans) / (now - since)


def seconds_left(*, budget: int | None, steps: int, speed: float) -> float | None:
    """The time until a budget of steps is used up; None without a budget, or where nothing is made."""
    if budget is None or speed <= 0:
        return None
    return max(0, budget - steps) / speed
