"""Chooses how much work each call to a crew's actors gets, by how long earlier calls took."""

from __future__ import annotations

import time

CALL_SECONDS = 0.2
"""Target duration of one call to an actor: long against its 1 ms of overhead, short against a stop."""


class CallTimer:
    """Times the calls to actors and says how much work the next call should get."""

    def __init__(self) -> None:
        self._started = self._last = time.monotonic()
        self._per_unit = 0.0

    @property
    def seconds(self) -> float:
        """Since the timer was made."""
        return time.monotonic() - self._started

    def returned(self, units: int) -> None:
        """Record that a call of this many units of work came back."""
        now = time.monotonic()
        self._per_unit, self._last = (now - self._last) / units, now

    @property
    def next_units(self) -> int:
        """Units of work for a call of about CALL_SECONDS; 1 before the first call has returned."""
        return max(1, int(CALL_SECONDS / self._per_unit)) if self._per_unit > 0 else 1
