"""How long a trial has been running; pauses do not count, and a new run of the workflow goes on with it."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.workflows import Status, TrialState


class WallClock:
    """Reads and writes the clock's part of a trial's state."""

    def __init__(self, state: TrialState) -> None:
        self._state = state

    def start(self) -> None:
        """Go, if the trial runs."""
        if self._state.running_since is None and self._state.status is Status.RUNNING:
            self._state.running_since = workflow.time()

    def stop(self) -> None:
        if self._state.running_since is not None:
            self._state.seconds_used = self.seconds
            self._state.running_since = None

    @property
    def seconds(self) -> float:
        """Time spent running so far."""
        since = self._state.running_since
        return self._state.seconds_used + (workflow.time() - since if since is not None else 0.0)

    def left(self, limit: float | None) -> timedelta | None:
        """Until a budget of so many seconds is used up; None where there is none or the clock stands."""
        if limit is None or self._state.running_since is None or self._state.mode.ends:
            return None
        return timedelta(seconds=max(0.0, limit - self.seconds))
