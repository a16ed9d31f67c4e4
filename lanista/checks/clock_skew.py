"""How far another machine's clock is from this one's."""

from __future__ import annotations

import time
from collections.abc import Callable

ALLOWED_SECONDS = 5.0
"""More than this shows: sign-in links end early, and times on the page lie ahead."""


def clock_skew(ask: Callable[[], float], clock: Callable[[], float] = time.time) -> float:
    """Seconds that the asked clock is ahead; negative: behind. It is off by at most half the time of the call."""
    before = clock()
    theirs = ask()
    return theirs - (before + clock()) / 2


def skew_text(whose: str, seconds: float) -> str:
    """The skew in words."""
    if abs(seconds) < 0.05:
        return f"the clock of {whose} agrees with this machine's"
    return f"the clock of {whose} is {abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'} this machine's"
