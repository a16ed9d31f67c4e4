"""How far another machine's clock is from this one's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

ALLOWED_SECONDS = 5.0
"""More than this shows: sign-in links end early, and times on the page lie ahead."""


@dataclass(frozen=True)
class Skew:
    """Seconds that a clock is ahead (negative: behind), and by how much that may be off at most."""

    ahead: float
    within: float

    def __add__(self, other: Skew) -> Skew:
        return Skew(self.ahead + other.ahead, self.within + other.within)

    def __neg__(self) -> Skew:
        return Skew(-self.ahead, self.within)

    @property
    def too_large(self) -> bool:
        """Whether it is too large however long the asking took."""
        return abs(self.ahead) - self.within > ALLOWED_SECONDS


def measure_skew(ask: Callable[[], float], clock: Callable[[], float] = time.time, times: int = 1) -> Skew:
    """The skew of the asked clock, by the quickest of some calls: it is off by at most half the time of the call."""
    best = Skew(0.0, float("inf"))
    for _ in range(times):
        before = clock()
        theirs = ask()
        after = clock()
        best = min(best, skew_between(before, theirs, after), key=lambda skew: skew.within)
    return best


def skew_between(before: float, theirs: float, after: float) -> Skew:
    """The skew of a clock that was read at some time between two readings of this machine's."""
    return Skew(theirs - (before + after) / 2, (after - before) / 2)


def skew_text(whose: str, seconds: float) -> str:
    """The skew in words."""
    if abs(seconds) < 0.05:
        return f"the clock of {whose} agrees with this machine's"
    return f"the clock of {whose} is {abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'} this machine's"
