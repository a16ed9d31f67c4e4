"""The running time of a trial without its pauses, continued over runs of the workflow."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.workflows import Status, TrialState


class WallClock:
    """Measures running time in the trial's state."""

    def __init__(self, state: TrialState) -> None:
        self._state = state

    def start(self) -> None:
        """Start measuring, if the trial is running."""
        if self._state.running_since is None and self._state.status is Status.RUNNING:
            self._state.running_since = workflow.time()

    def stop(self) -> None:
        """Stop measuring."""
        if self._state.running_since is not None:
            self._state.seconds_used = self.seconds
            self._state.running_since = None

    @property
    def seconds(self) -> float:
        """Time spent running so far."""
        since = self._state.running_since
        return self._state.seconds_used + (workflow.time() - since if since is not None else 0.0)

    def left(self, limit: float | None) -> timedelta | None:
        """Time until the limit; None without a limit, or while the clock is stopped."""
        if limit is None or self._state.running_since is None or self._state.mode.ends:
            return None
        return timedelta(seconds=max(0.0, limit - self.seconds))
