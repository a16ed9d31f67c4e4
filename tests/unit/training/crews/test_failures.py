"""Which kind of failure workflows hear of: it decides whether and how an attempt is made again."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
import ray
from ray.exceptions import ActorDiedError, RayTaskError
from temporalio.exceptions import ApplicationError, CancelledError

import workers
from orchestrator.catalog import Component
from orchestrator.contracts.errors import Failure
from orchestrator.storage.artifacts import ArtifactStore, ArtifactStoreFull, ArtifactStoreUnavailable, MissingArtifact
from tests.unit.training.generation_task import TASK
from workers.activities import playing
from workers.activities.failures import failure_message, map_errors
from workers.algorithms.contract import BadAlgorithm
from workers.bots.names import make_bot
from workers.bots.protocol import BadBot
from workers.checkpoints import CheckpointMismatch
from workers.crews.errors import BadTask
from workers.crews.generation import run_generation
from workers.crews.hosts.calls import raised_by
from workers.games.errors import BadGame, IllegalAction
from workers.games.names import make_game
from workers.matches.task import BadMatch
from workers.models.contract import BadModel
from workers.rollout.openings import BadOpenings
from workers.user_errors import NotFinite, UserCodeError, raises_user_errors
from workers.user_traceback import user_traceback


def failure_of(error: Exception) -> tuple[str | None, bool]:
    with pytest.raises(ApplicationError) as named, map_errors():
        raise error
    return named.value.type, named.value.non_retryable


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ArtifactStoreFull("memory://", "full"), Failure.STORE_FULL),
        (ArtifactStoreUnavailable("memory://", "away"), Failure.STORE_UNAVAILABLE),
        (MissingArtifact("memory://", "0"), Failure.DAMAGED_CHECKPOINT),
        (ActorDiedError(), Failure.CREW_LOST),
        (ZeroDivisionError("a user's bug"), Failure.USER_CODE),
        (NotFinite("the reward is nan"), Failure.USER_CODE),
        (OSError("no space left on device"), Failure.UNKNOWN),
        (MemoryError(), Failure.UNKNOWN),
    ],
)
def test_errors_are_told_apart(error: Exception, kind: Failure) -> None:
    assert failure_of(error) == (kind, False)


@pytest.mark.parametrize(
    "error",
    [
        BadTask("0 tables"),
        BadMatch("no such game"),
        BadModel("no such model"),
        BadAlgorithm("no such option"),
        BadBot("no such bot"),
        BadOpenings("a share of 2"),
        BadGame("no seats"),
        IllegalAction("nim", 0, 1, 7, [0, 1]),
        CheckpointMismatch("other shapes"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_bad_input_is_never_retried(error: Exception) -> None:
    assert failure_of(error) == (Failure.BAD_INPUT, True)


def test_a_mistyped_option_is_bad_input() -> None:
    task = replace(TASK, algorithm=Component(id="ppo", options={"learning_rat": 0.1}))
    with pytest.raises(ApplicationError, match="learning_rat: no such option") as named, map_errors():
        run_generation(task, store=ArtifactStore("memory://"), progress=lambda _: None, should_stop=lambda: False)
    assert (named.value.type, named.value.non_retryable) == (Failure.BAD_INPUT, True)


def test_a_bot_whose_factory_takes_other_options_is_bad_input() -> None:
    with pytest.raises(BadBot, match="missing a required argument"):
        make_bot("workers.bots.fixed_strategies:MixedBot", make_game("tic_tac_toe", 1).spec)


def broken_code() -> None:
    raise ZeroDivisionError("a user's bug")


def test_an_error_of_the_users_code_shows_the_users_frames_and_no_others() -> None:
    with pytest.raises(ApplicationError) as named, map_errors():
        broken_code()
    first, *frames = named.value.message.splitlines()
    assert first == "ZeroDivisionError: a user's bug"
    assert any("test_failures.py" in line and "in broken_code" in line for line in frames)
    assert 'raise ZeroDivisionError("a user\'s bug")' in named.value.message
    assert "workers/activities" not in named.value.message and "pluggy" not in user_traceback(ValueError("no frames"))


def test_the_frames_of_a_ray_actor_are_shown() -> None:
    remote = (
        "ray::FusedActor.advance() (pid=1, ip=127.0.0.1)\n"
        f'  File "{Path(workers.__file__).parent}/rollout/sampler.py", line 66, in collect\n'
        "    self._step(record=True)\n"
        '  File "/home/someone/my_game.py", line 12, in advance\n'
        "    return 1 / 0\n"
        "           ~~^~~\n"
        "ZeroDivisionError: division by zero"
    )
    cause = ZeroDivisionError("division by zero")
    error = RayTaskError("advance", remote, cause, proctitle="p", pid=1, ip="127.0.0.1").as_instanceof_cause()
    with pytest.raises(ApplicationError) as named, map_errors():
        raise raised_by(error) from error
    assert 'File "/home/someone/my_game.py", line 12, in advance\n    return 1 / 0' in named.value.message
    assert "sampler.py" not in named.value.message


class TwoArguments(Exception):
    """Cannot be pickled: it is loaded with one argument."""

    def __init__(self, first: str, second: int) -> None:
        super().__init__(f"{first} {second}")


@raises_user_errors
class Actor:
    """Stands for a Ray actor."""

    def advance(self, error: Exception) -> None:
        raise error

    def fine(self, number: int, *, factor: int = 2) -> int:
        return number * factor


def test_what_user_code_raises_travels_as_text_with_its_frames() -> None:
    with pytest.raises(UserCodeError) as raised:
        Actor().advance(TwoArguments("board", 7))
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again)) == (UserCodeError, "TwoArguments: board 7")
    assert "test_failures.py" in again.frames and "raise error" in again.frames
    assert failure_message(again).startswith("TwoArguments: board 7\n  File ")
    assert Actor().fine(3, factor=5) == 15


@pytest.mark.parametrize("error", [BadTask("x"), IllegalAction("nim", 0, 1, 7, [0]), OSError(28, "x"), MemoryError()])
def test_errors_of_our_own_and_of_the_machine_travel_as_they_are(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        Actor().advance(error)
    assert raised.value is error


def test_a_cancelled_attempt_ends_as_cancelled() -> None:
    with pytest.raises(CancelledError), map_errors():
        raise CancelledError("stopped on request")


@pytest.mark.parametrize(
    ("cause", "kind"), [(UserCodeError("ZeroDivisionError"), Failure.USER_CODE), (BadMatch("x"), Failure.BAD_INPUT)]
)
def test_an_error_of_the_game_is_no_lost_actor(
    monkeypatch: pytest.MonkeyPatch, cause: Exception, kind: Failure
) -> None:
    error = RayTaskError("play", "traceback", cause, proctitle="p", pid=1, ip="127.0.0.1").as_instanceof_cause()

    def get(ref: object) -> None:
        raise error

    monkeypatch.setattr(ray, "get", get)
    with pytest.raises(ApplicationError) as named, map_errors():
        playing._result(object())
    assert named.value.type == kind
