"""The learning rate of the actor-critic algorithms, which can fall over a player's steps."""

import pytest
from pydantic import ValidationError

from orchestrator.catalog import Component
from orchestrator.spec.algorithms.actor_critic import MmdOptions
from tests.unit.training.samples import random_batch, updated
from workers.algorithms.building import build_learner
from workers.algorithms.contract import make_algorithm
from workers.algorithms.learner import POLICY
from workers.games.protocol import GameSpec

SPEC = GameSpec(id="made-up", seats=1, observation_shape=(6,), actions=5, max_steps=9)
FALLING = {"learning_rate": 0.01, "learning_rate_steps": 1000, "learning_rate_left": 0.2}


def rate_after(id_: str, steps: int, options: dict[str, float]) -> float:
    algorithm = make_algorithm(Component(id=id_, options={"minibatch": 24, **options}), 48)
    learner = build_learner(algorithm, Component(id="mlp"), SPEC, 1)
    algorithm.schedule(learner, steps)
    updated(algorithm, learner, random_batch())
    return learner.optimisers[POLICY].learning_rate


@pytest.mark.parametrize("id_", ["ppo", "a2c", "vtrace", "upgo"])
@pytest.mark.parametrize(("steps", "rate"), [(0, 0.01), (250, 0.008), (1000, 0.002), (5000, 0.002)])
def test_it_falls_in_a_line_and_then_stays(id_: str, steps: int, rate: float) -> None:
    assert rate_after(id_, steps, FALLING) == pytest.approx(rate)


def test_it_stays_by_default() -> None:
    assert rate_after("ppo", 10**9, {"learning_rate": 0.01}) == 0.01


def test_it_falls_for_mmd_where_nothing_else_shrinks_it() -> None:
    assert rate_after("mmd", 250, {**FALLING, "anneal_steps": 0}) == pytest.approx(0.008)
    with pytest.raises(ValidationError, match="both shrink the learning rate; set one of them to 0"):
        MmdOptions(learning_rate_steps=1000)
