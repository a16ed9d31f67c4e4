"""The learner's optimiser, checkpoints of it, options and tasks."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter

from league.types import CheckpointRef
from orchestrator.catalog import Component
from workers.algorithms.contract import BadAlgorithm, parse_options
from workers.algorithms.learner import Learner
from workers.algorithms.ppo import PpoOptions
from workers.checkpoints import CheckpointMismatch
from workers.crews.errors import BadTask
from workers.crews.generation import crew_plan
from workers.crews.task import GenerationTask, TaskOpponent, Topology
from workers.crews.training_context import expected_rows
from workers.games.connect_four import ConnectFour
from workers.games.rock_paper_scissors import RockPaperScissors
from workers.models.contract import build_model
from workers.models.mlp import Mlp
from workers.models.normalised import Normalised
from workers.rollout.openings import OpeningRules


def learner(seed: int = 0) -> Learner:
    torch.manual_seed(seed)
    return Learner(Mlp(observation_shape=(3,), actions=2, hidden=[4]))


def test_steps_are_those_of_adam_with_clipped_gradients() -> None:
    mine, theirs = learner(), learner()
    parameters = list(theirs.model.parameters())
    adam = torch.optim.Adam(parameters, lr=0.01, eps=1e-5)
    for step in range(5):
        torch.manual_seed(step)
        gradient = torch.randn_like(mine.gradient)
        for each in (mine, theirs):
            each.gradient.copy_(gradient)
        torch.nn.utils.clip_grad_norm_(parameters, 0.5)
        adam.step()
        mine.step(0.01, 0.5)
        torch.testing.assert_close(mine.flat, theirs.flat, atol=1e-6, rtol=1e-5)


def test_a_learner_goes_on_where_its_state_was_taken() -> None:
    one, two = learner(0), learner(1)
    one.gradient.fill_(0.1)
    one.step(0.01, 0.0)
    two.load_weights(one.weights())
    two.load_optimizer(one.optimizer_state())
    for each in (one, two):
        each.gradient.copy_(torch.linspace(-1, 1, len(each.gradient)))
        each.step(0.01, 0.0)
    assert torch.equal(one.flat, two.flat)
    assert torch.equal(two.model.state_dict()["heads.bias"], two.flat[-3:])


def test_an_optimiser_of_another_model_is_refused() -> None:
    other = Learner(Mlp(observation_shape=(3,), actions=2, hidden=[5]))
    with pytest.raises(CheckpointMismatch):
        learner().load_optimizer(other.optimizer_state())
    with pytest.raises(CheckpointMismatch):
        learner().load_weights(other.weights())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"gama": 1.0}, "no option gama; allowed: clip"),
        ({"gamma": 1.5}, "gamma must lie between 0 and 1"),
        ({"epochs": 1.5}, "epochs must be a whole number of at least 1, not 1.5"),
        ({"rollout_steps": "16"}, "rollout_steps must be a whole number"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1"),
        ({"learning_rate": "fast"}, "learning_rate must be a number"),
        ({"entropy": math.nan}, "entropy must be a number"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadAlgorithm, match=says):
        parse_options(Component(id="ppo", options=options))


def test_an_algorithm_must_be_one() -> None:
    with pytest.raises(BadAlgorithm, match="not a subclass"):
        parse_options(Component(id="workers.models.mlp:Mlp"))
    assert parse_options(Component(id="ppo", options={"clip": 0.1})) == PpoOptions(clip=0.1)


REF = CheckpointRef(uri="x", sha256="0" * 64, size=1)


def task(**given: Any) -> GenerationTask:
    return GenerationTask(
        **{
            "game": Component(id="connect_four"),
            "model": Component(id="mlp"),
            "algorithm": Component(id="ppo"),
            "steps": 1,
            "seed": 0,
            **given,
        }
    )


def sat(probability: float, **given: Any) -> TaskOpponent:
    return TaskOpponent(player="p", version="v", probability=probability, **given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"tables": 0}, "tables must be at least 1"),
        ({"opponents": (sat(0.5),)}, "sum to 1, they sum to 0.5"),
        ({"opponents": (sat(1.0, checkpoint=REF, bot="random"),)}, "both a checkpoint and a bot"),
        ({"opponents": (sat(math.nan),)}, "probability nan"),
        ({"rollout_actors": 2, "trainers": 2, "topology": Topology.FUSED}, "no separate trainers"),
        ({"rollout_actors": 3, "trainers": 2}, "cannot be shared by 2 trainers"),
    ],
)
def test_impossible_tasks_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(BadTask, match=says):
        task(**given)


def test_shares_put_live_self_play_first() -> None:
    mixture = (sat(0.3, bot="random"), sat(0.5), sat(0.2, checkpoint=REF))
    assert task(opponents=mixture).shares == pytest.approx([0.5, 0.3, 0.2])
    assert task().shares == [1.0]


def test_rows_are_expected_of_learning_seats_only() -> None:
    four, rps = ConnectFour(tables=1).spec, RockPaperScissors(tables=1).spec
    half = task(opponents=(sat(0.5), sat(0.5, bot="random")), tables=64, rollout_actors=2)
    assert expected_rows(half, four, 10) == 960
    assert expected_rows(task(tables=64), four, 10) == 640
    assert expected_rows(task(tables=64), rps, 10) == 1280


def test_crews_are_fused_unless_trainers_or_a_split_are_asked_for() -> None:
    assert not crew_plan(task()).split
    assert not crew_plan(task(topology=Topology.FUSED)).split
    assert crew_plan(task(topology=Topology.SPLIT)).split
    assert crew_plan(task(rollout_actors=2, trainers=2)).split
    assert crew_plan(task(rollout_actors=2, trainers=2)).processes == 4


def test_a_normalised_model_follows_the_observations_it_is_shown() -> None:
    spec = ConnectFour(tables=1).spec
    model = build_model(Component(id="mlp", options={"normalise": True}), spec)
    assert isinstance(model, Normalised)
    rng = np.random.default_rng(0)
    shown = torch.from_numpy(rng.normal(5.0, 3.0, (4000, *spec.observation_shape)).astype(np.float32))
    for part in shown.split(1000):
        model.absorb(model.moments(part), len(part))
    torch.testing.assert_close(model.mean, shown.mean(0), atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(model.square, shown.square().mean(0), atol=0.05, rtol=1e-2)
    legal = torch.ones(4, spec.actions, dtype=torch.bool)
    same = model.inner((shown[:4] - shown.mean(0)) / shown.std(0), legal)
    torch.testing.assert_close(model(shown[:4], legal), same, atol=1e-2, rtol=1e-2)
    assert {"mean", "square", "rows"} <= model.state_dict().keys()


def test_tasks_travel_as_json() -> None:
    mixture = (sat(0.3, bot="random"), sat(0.5), sat(0.2, checkpoint=REF))
    sent = task(opponents=mixture, topology=Topology.SPLIT, openings=OpeningRules(share=0.1, plies=3))
    adapter = TypeAdapter(GenerationTask)
    assert adapter.validate_json(adapter.dump_json(sent)) == sent
