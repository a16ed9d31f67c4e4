"""What workflows make of an attempt that failed."""

from __future__ import annotations

import pytest
from temporalio.exceptions import ActivityError, TimeoutError, TimeoutType

from orchestrator.contracts.errors import Failure
from orchestrator.workflows.retries import failure_of


@pytest.mark.parametrize(
    ("kind", "failure", "words"),
    [
        (TimeoutType.HEARTBEAT, Failure.WORKER_LOST, "no sign of life"),
        (TimeoutType.START_TO_CLOSE, Failure.STALLED, "took longer"),
    ],
)
def test_a_silent_worker_and_a_long_attempt_are_told_apart(kind: TimeoutType, failure: Failure, words: str) -> None:
    error = ActivityError(
        "failed",
        scheduled_event_id=1,
        started_event_id=2,
        identity="",
        activity_type="play_games",
        activity_id="1",
        retry_state=None,
    )
    error.__cause__ = TimeoutError("timed out", type=kind, last_heartbeat_details=[])
    found, problem = failure_of(error)
    assert found is failure and words in problem
