"""Liveness by progress: heartbeats carry what was done, and work that stands still is stopped."""

from __future__ import annotations

import time
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError

from orchestrator.contracts.errors import Failure

HEARTBEAT_SECONDS = 1.0


class ProgressWatch:
    """Asked several times a second whether to stop. Each question proves that the driver lives, so it beats the
    heart too; a driver that hangs asks nothing, and the server notices the silence.
    """

    def __init__(self, stall_seconds: float, unit: str) -> None:
        self._stall_seconds = stall_seconds
        self._unit = unit
        self._done = -1
        self._beyond = 0
        self._moved_at = time.monotonic()
        self._beat_at = 0.0
        self._details: dict[str, Any] = {}
        self._reason: Failure | None = None

    def moved(self, done: int, *, beyond: int = 0, **details: Any) -> None:
        """So much is done by now; `beyond` is work that counts as none, and yet is no standstill."""
        if (done, beyond) != (self._done, self._beyond):
            self._done, self._beyond, self._moved_at = done, beyond, time.monotonic()
        self._details = {self._unit: done, **details}

    def waits(self) -> None:
        """It waits for its turn, which is no standstill."""
        self._moved_at = time.monotonic()

    def should_stop(self) -> bool:
        """Whether the work must end: cancelled, the worker going down, or no progress for too long."""
        now = time.monotonic()
        if now - self._beat_at >= HEARTBEAT_SECONDS:
            activity.heartbeat(self._details)
            self._beat_at = now
        if activity.is_cancelled():
            self._reason = Failure.STOPPED
        elif activity.is_worker_shutdown():
            self._reason = Failure.CREW_LOST
        elif now - self._moved_at > self._stall_seconds:
            self._reason = Failure.STALLED
        return self._reason is not None

    def stopped(self) -> Exception:
        """The failure to raise once the work has ended because of `should_stop`."""
        if self._reason is Failure.STALLED:
            words = f"no progress for {self._stall_seconds:g} s, at {max(self._done, 0)} {self._unit}"
            return ApplicationError(words, type=Failure.STALLED)
        if self._reason is Failure.CREW_LOST:
            return ApplicationError("the train worker is going down", type=Failure.CREW_LOST)
        return CancelledError("stopped on request")
