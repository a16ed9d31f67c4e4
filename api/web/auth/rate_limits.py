"""Rate limits: a token bucket for each caller, separate in each process."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.responses import Response

from api.web.problems import problem

MAX_CALLERS = 10_000


class RateLimit:
    """`burst` permits at once, `per_second` after that. A rate of 0 allows everything."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_for(self, caller: str, *, take: bool = True) -> float:
        """0 if the caller may proceed, else the seconds until it may. `take` uses up a permit."""
        if self._per_second <= 0:
            return 0.0
        now = self._clock()
        permits, since = self._buckets.pop(caller, (float(self._burst), now))
        permits = min(self._burst, permits + (now - since) * self._per_second)
        allowed = permits >= 1
        self._buckets[caller] = (permits - 1 if allowed and take else permits, now)
        if len(self._buckets) > MAX_CALLERS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - permits) / self._per_second


def too_many(wait: float, detail: str) -> Response:
    """429, with the seconds to wait."""
    seconds = max(1, round(wait + 0.5))
    return problem(429, f"{detail}; try again in {seconds} s", headers={"Retry-After": str(seconds)})
