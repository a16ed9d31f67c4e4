"""Liveness by progress: heartbeats carry how far the work is, and work without progress is stopped."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError

from orchestrator.contracts.errors import Failure
from orchestrator.contracts.generations import PARTIAL, PartialGeneration
from workers.activities.gamecores import GamecoreWatch

HEARTBEAT_SECONDS = 1.0
POLL_SECONDS = 0.1


class ProgressWatch:
    """The driver polls it several times a second; these polls send the activity's heartbeats.

    A driver that hangs does not poll, so its heartbeats end and the Temporal server notices.
    """

    def __init__(self, stall_seconds: float, unit: str, gamecores: GamecoreWatch | None = None) -> None:
        """`gamecores` says whether a game that calls in is connected: waiting for one is not a stall, and decisions
        that arrive for a batch are progress.
        """
        self._gamecores = gamecores
        self._stall_seconds = stall_seconds
        self._unit = unit
        self._done = -1
        self._extra_progress = 0
        self._rows = 0
        self._moved_at = time.monotonic()
        self._beat_at = 0.0
        self._details: dict[str, Any] = {}
        self._reason: Failure | None = None
        self._lacks = ""
        self._partial: dict[str, Any] = {}

    def record(self, done: int, *, extra_progress: int = 0, **details: Any) -> None:
        """Record the work done so far. `extra_progress` counts play-out steps: not trained on, but progress."""
        if (done, extra_progress) != (self._done, self._extra_progress):
            self._done, self._extra_progress, self._moved_at = done, extra_progress, time.monotonic()
        self._details = {self._unit: done, **details}

    def goes_on_from(self, partial: PartialGeneration | None) -> None:
        """Record where the attempt begins: what was done before that is not lost with it."""
        self._partial = {} if partial is None else {PARTIAL: asdict(partial)}

    def stored(self, partial: PartialGeneration) -> None:
        """Record a mid-generation checkpoint; every heartbeat names the newest, and so does the error of a failure."""
        self._partial = {PARTIAL: asdict(partial)}
        self._moved_at, self._beat_at = time.monotonic(), 0.0  # the next poll sends it

    def waiting(self, reason: str = "") -> None:
        """Record that the work waits for its turn, which is not a stall, and what it waits for."""
        self._moved_at = time.monotonic()
        if reason:
            self._details = {"waiting": reason}

    def should_stop(self) -> bool:
        """Whether the work must end: it was cancelled, the worker shuts down, or there is no progress for too long."""
        now = time.monotonic()
        lacks = None if self._gamecores is None else self._gamecores.problem
        if lacks is not None or self._rows_arrived():
            self._moved_at = now
        if now - self._beat_at >= HEARTBEAT_SECONDS:
            waits = {} if lacks is None else {"waiting": f"a game: {lacks}"}
            activity.heartbeat({**self._details, **waits, **self._partial})
            self._beat_at = now
        if activity.is_cancelled():
            self._reason = Failure.STOPPED
        elif activity.is_worker_shutdown():
            self._reason = Failure.CREW_LOST
        elif lacks is not None and self._gamecores is not None and self._gamecores.given_up:
            self._reason, self._lacks = Failure.NO_GAMECORE, lacks
        elif now - self._moved_at > self._stall_seconds:
            self._reason = Failure.STALLED
        return self._reason is not None

    def _rows_arrived(self) -> bool:
        """Whether outside games have made decisions since the last call: a batch of slow games takes long."""
        before, self._rows = self._rows, 0 if self._gamecores is None else self._gamecores.rows
        return self._rows > before

    def wait_for_gamecores(self) -> None:
        """Wait until a game calls in, before a crew takes CPUs that others could use; raises `stop_error`."""
        while self._gamecores is not None and self._gamecores.problem is not None:
            if self.should_stop():
                raise self.stop_error()
            time.sleep(POLL_SECONDS)

    @property
    def lacked_gamecores(self) -> bool:
        """Whether the work ended because no game called in."""
        return self._reason is Failure.NO_GAMECORE

    def with_steps(self, error: ApplicationError) -> ApplicationError:
        """The same error, which also says how much work was done: it is lost with the attempt."""
        lost = {self._unit: max(self._done, 0), **self._partial}
        return ApplicationError(error.message, lost, type=error.type, non_retryable=error.non_retryable)

    def stop_error(self) -> Exception:
        """The error to raise once the work has ended because of `should_stop`."""
        if self._reason is Failure.NO_GAMECORE:
            return ApplicationError(self._lacks, type=Failure.NO_GAMECORE)
        if self._reason is Failure.STALLED:
            words = f"no progress for {self._stall_seconds:g} s, at {max(self._done, 0)} {self._unit}"
            return ApplicationError(words, type=Failure.STALLED)
        if self._reason is Failure.CREW_LOST:
            return ApplicationError("the train worker is shutting down", type=Failure.CREW_LOST)
        return CancelledError("stopped on request")
