"""Calls to the actors of a crew: how much work each gets, and their results or errors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from workers.crews.errors import CrewLost

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


def raised_by(error: RayTaskError) -> Exception:
    """The exception that the actor raised, without Ray's wrapper.

    Where that exception cannot be loaded here, Ray sends one of its own; it becomes a RuntimeError, because a RayError
    would be taken for a lost crew. Actors with `raises_user_errors` never send such an exception.
    """
    if isinstance(error.cause, RayError):
        return RuntimeError(str(error.cause))
    cause: Exception = error.cause
    return cause


def call_results(refs: Sequence[Any]) -> list[Any]:
    """The results of calls that have ended; raises the actor's own exception."""
    try:
        return list(ray.get(list(refs)))
    except RayTaskError as error:
        raise raised_by(error) from error
    except RayError as error:
        raise CrewLost(f"the crew was lost: {error}") from error
