"""Bugs of users in games, models, algorithms and bots: told as theirs, with their lines, and named where they arose."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from orchestrator.catalog import Component
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.generations import GenerationTask, PlannedOpponent
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.generation_task import TASK
from workers.activities.failures import failure_kind, failure_message
from workers.crews.actors import FusedActor
from workers.crews.plan import crew_plan
from workers.matches.host import MatchHost
from workers.matches.task import Entrant, MatchTask

NAN_OBSERVATION = "at table 3 has the number nan, which is not finite (in "


def broken(name: str, **options: Any) -> Component:
    return Component(id=f"tests.unit.training.broken:{name}", options=options)


def train(task: GenerationTask) -> Exception:
    """What a process of a crew raises, as another process receives it."""
    actor = FusedActor(crew_plan(task), ArtifactStore("memory://"), 0)
    with pytest.raises(Exception) as raised:
        actor.set_up()
        actor.prepare(task, True)
        actor.advance(4)
    received = pickle.loads(pickle.dumps(raised.value))
    assert isinstance(received, Exception)
    return received


@pytest.mark.parametrize(
    ("task", "message", "line"),
    [
        (replace(TASK, game=broken("RaisingGame")), "RulesBroken: gravity in move 3", 'RulesBroken("gravity"'),
        (replace(TASK, model=broken("RaisingModel")), "KeyError: 'attention'", 'raise KeyError("attention")'),
        (replace(TASK, algorithm=broken("RaisingLoss")), "KeyError: 'advantage'", 'batch["advantage"].mean()'),
    ],
    ids=["game", "model", "loss"],
)
def test_what_user_code_raises_is_told_with_its_own_line(task: GenerationTask, message: str, line: str) -> None:
    error = train(task)
    assert failure_kind(error) is Failure.USER_CODE
    first, *frames = failure_message(error).splitlines()
    assert first == message
    assert "broken.py" in frames[-2] and line in frames[-1]
    assert not any("workers/" in frame for frame in frames)


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (replace(TASK, game=broken("BlindGame")), NAN_OBSERVATION),
        (replace(TASK, game=broken("BlindGame"), algorithm=broken("Greedy")), NAN_OBSERVATION),
        (replace(TASK, game=broken("InfiniteGame")), "is inf, which is not finite"),
        (
            replace(TASK, model=broken("NanModel")),
            "update the model's outputs, or the weights, were not finite: kl nan",
        ),
        (replace(TASK, model=broken("LateNanModel")), "the model returned numbers that are not finite (log_prob of"),
        (replace(TASK, algorithm=broken("NanLoss")), "the loss of tests.unit.training.broken:NanLoss is nan"),
        (
            replace(TASK, algorithm=broken("NanStep")),
            "made weights of policy NaN or infinite (optimiser 'policy', 1",
        ),
    ],
    ids=[
        "observation",
        "observation, values only",
        "reward",
        "model in an update",
        "model in a rollout",
        "loss",
        "own update",
    ],
)
def test_numbers_that_are_not_finite_are_named_where_they_arise(task: GenerationTask, message: str) -> None:
    error = train(task)
    assert failure_kind(error) is Failure.USER_CODE
    assert message in failure_message(error)


def test_a_forbidden_action_of_a_bot_is_bad_input() -> None:
    cheat = PlannedOpponent(player="cheat", version="cheat", probability=1.0, bot="tests.unit.training.broken:Cheat")
    error = train(replace(TASK, opponents=(cheat,)))
    assert failure_kind(error) is Failure.BAD_INPUT
    assert "chose action" in failure_message(error)


def test_a_result_of_another_shape_is_bad_input() -> None:
    error = train(replace(TASK, game=broken("NarrowGame")))
    assert failure_kind(error) is Failure.BAD_INPUT
    assert "advance must return rewards of shape (64, 2) and 64 numbers of done, not (64, 1)" in str(error)


def test_matches_tell_the_same() -> None:
    both = (Entrant(id="a", bot="random"), Entrant(id="b", bot="random"))  # type: ignore[arg-type]
    found = {}
    for name in ("RaisingGame", "InfiniteGame"):
        with pytest.raises(Exception) as raised:
            MatchHost("memory://").play(MatchTask(game=broken(name), entrants=both, pairs=2, seed=1))
        found[name] = failure_message(pickle.loads(pickle.dumps(raised.value)))
    assert found["RaisingGame"].startswith("RulesBroken: gravity in move 3\n  File ")
    assert "tic_tac_toe: the return of seat 0 is inf" in found["InfiniteGame"]
