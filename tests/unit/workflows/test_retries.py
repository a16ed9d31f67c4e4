"""How workflows classify a failed attempt."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, TimeoutType

from league.types import CheckpointRef
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.generations import PartialGeneration
from orchestrator.workflows.retries import OUTAGE_TRIES, _delay, classify_failure, lost_steps, partial_of


@pytest.mark.parametrize(
    ("kind", "failure", "words"),
    [
        (TimeoutType.HEARTBEAT, Failure.WORKER_LOST, "no heartbeat"),
        (TimeoutType.START_TO_CLOSE, Failure.STALLED, "exceeded its time limit"),
    ],
)
def test_a_silent_worker_and_a_long_attempt_are_told_apart(kind: TimeoutType, failure: Failure, words: str) -> None:
    found, problem = classify_failure(failed(TimeoutError("timed out", type=kind, last_heartbeat_details=[])))
    assert found is failure and words in problem


@pytest.mark.parametrize(
    ("cause", "lost"),
    [
        (TimeoutError("gone", type=TimeoutType.HEARTBEAT, last_heartbeat_details=[{"steps": 41_000}]), 41_000),
        (TimeoutError("gone", type=TimeoutType.HEARTBEAT, last_heartbeat_details=[{"waiting": "a crew"}]), 0),
        (TimeoutError("gone", type=TimeoutType.HEARTBEAT, last_heartbeat_details=[]), 0),
        (ApplicationError("no space left", {"steps": 900}, type=Failure.STORE_FULL), 900),
        (ApplicationError("no space left", type=Failure.STORE_FULL), 0),
        (ApplicationError("odd", {"steps": "many"}, type=Failure.UNKNOWN), 0),
        (None, 0),
    ],
)
def test_steps_are_lost_with_the_attempt(cause: BaseException | None, lost: int) -> None:
    assert lost_steps(failed(cause)) == lost


def test_steps_before_a_mid_generation_checkpoint_are_not_lost() -> None:
    ref = CheckpointRef(uri="partial/aa/aaaa", sha256="aaaa", size=7)
    partial = PartialGeneration(checkpoint=ref, outcome=replace(ref, size=8), updates=3, steps=30_000)
    told = {"steps": 41_000, "partial": asdict(partial)}
    lost = failed(TimeoutError("gone", type=TimeoutType.HEARTBEAT, last_heartbeat_details=[told]))
    raised = failed(ApplicationError("lost", told, type=Failure.CREW_LOST))
    assert partial_of(lost) == partial_of(raised) == partial
    assert lost_steps(lost) == lost_steps(raised) == 11_000
    assert partial_of(failed(None)) is None


@pytest.mark.parametrize("failure", [Failure.STORE_FULL, Failure.STORE_UNAVAILABLE])
def test_attempts_follow_closely_in_an_outage_of_minutes_and_rarely_in_one_of_days(failure: Failure) -> None:
    delays = [_delay(failure, tries).total_seconds() for tries in range(1, OUTAGE_TRIES + 20)]
    assert delays[:6] == [1, 2, 4, 8, 8, 8]
    assert max(delays[:OUTAGE_TRIES]) == 8 and sum(delays[:OUTAGE_TRIES]) > 300
    assert delays == sorted(delays) and delays[-1] == 300


def failed(cause: BaseException | None) -> ActivityError:
    error = ActivityError(
        "failed",
        scheduled_event_id=1,
        started_event_id=2,
        identity="",
        activity_type="play_games",
        activity_id="1",
        retry_state=None,
    )
    error.__cause__ = cause
    return error
