"""Which kind of failure workflows hear of: it decides whether and how an attempt is made again."""

from __future__ import annotations

import pytest
import ray
from ray.exceptions import ActorDiedError, RayTaskError
from temporalio.exceptions import ApplicationError, CancelledError

from orchestrator.artifacts import ArtifactStoreFull, ArtifactStoreUnavailable, MissingArtifact
from orchestrator.contracts.errors import Failure
from workers.activities import playing
from workers.activities.failures import named_failures
from workers.matches.task import BadMatch


def failure_of(error: Exception) -> tuple[str | None, bool]:
    with pytest.raises(ApplicationError) as named, named_failures():
        raise error
    return named.value.type, named.value.non_retryable


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ArtifactStoreFull("memory://", "full"), Failure.STORE_FULL),
        (ArtifactStoreUnavailable("memory://", "away"), Failure.STORE_UNAVAILABLE),
        (MissingArtifact("memory://", "0"), Failure.DAMAGED_CHECKPOINT),
        (ActorDiedError(), Failure.CREW_LOST),
        (ZeroDivisionError("a user's bug"), Failure.UNKNOWN),
    ],
)
def test_errors_are_told_apart(error: Exception, kind: Failure) -> None:
    assert failure_of(error) == (kind, False)


def test_bad_input_is_final() -> None:
    assert failure_of(BadMatch("no such game")) == (Failure.BAD_INPUT, True)


def test_a_cancelled_attempt_ends_as_cancelled() -> None:
    with pytest.raises(CancelledError), named_failures():
        raise CancelledError("stopped on request")


@pytest.mark.parametrize(
    ("cause", "kind"), [(ZeroDivisionError("a user's bug"), Failure.UNKNOWN), (BadMatch("x"), Failure.BAD_INPUT)]
)
def test_an_error_of_the_game_is_no_lost_actor(
    monkeypatch: pytest.MonkeyPatch, cause: Exception, kind: Failure
) -> None:
    error = RayTaskError("play", "traceback", cause, proctitle="p", pid=1, ip="127.0.0.1").as_instanceof_cause()

    def get(ref: object) -> None:
        raise error

    monkeypatch.setattr(ray, "get", get)
    with pytest.raises(ApplicationError) as named, named_failures():
        playing._result(object())
    assert named.value.type == kind
