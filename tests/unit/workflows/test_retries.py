"""How workflows classify a failed attempt."""

from __future__ import annotations

import pytest
from temporalio.exceptions import ActivityError, TimeoutError, TimeoutType

from orchestrator.contracts.errors import Failure
from orchestrator.workflows.retries import classify_failure


@pytest.mark.parametrize(
    ("kind", "failure", "words"),
    [
        (TimeoutType.HEARTBEAT, Failure.WORKER_LOST, "no heartbeat"),
        (TimeoutType.START_TO_CLOSE, Failure.STALLED, "exceeded its time limit"),
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
    found, problem = classify_failure(error)
    assert found is failure and words in problem
