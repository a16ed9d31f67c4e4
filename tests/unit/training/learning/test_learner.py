"""The learner's optimiser, checkpoints of it, options and tasks."""

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter
from torch import nn

from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, PlannedOpponent, Topology
from orchestrator.spec.algorithms.actor_critic import PpoOptions
from orchestrator.spec.algorithms.base import AlgorithmOptions
from tests.unit.training.samples import learner_of
from workers.algorithms.contract import Algorithm, algorithm_class, parse_options
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.learner import POLICY, Learner
from workers.checkpoints import CheckpointMismatch
from workers.crews.errors import BadTask
from workers.crews.plan import crew_plan
from workers.crews.task import check_task
from workers.crews.training_context import expected_rows
from workers.games.builtin.connect_four import ConnectFour
from workers.games.builtin.rock_paper_scissors import RockPaperScissors
from workers.models.contract import build_model
from workers.models.mlp import Mlp
from workers.models.normalised import Normalised


def learner(seed: int = 0, hidden: int = 4) -> Learner:
    torch.manual_seed(seed)
    model = Mlp(observation_shape=(3,), actions=2, hidden=[hidden])
    return learner_of(model, AlgorithmOptions(learning_rate=0.01, gradient_clip=0.5))


def test_steps_are_those_of_adam_with_clipped_gradients() -> None:
    mine, theirs = learner(), learner()
    parameters = list(theirs.model.parameters())
    adam = torch.optim.Adam(parameters, lr=0.01, eps=1e-5)
    for step in range(5):
        torch.manual_seed(step)
        gradient = torch.randn_like(mine.optimisers[POLICY].gradient)
        for each in (mine, theirs):
            each.optimisers[POLICY].gradient.copy_(gradient)
        torch.nn.utils.clip_grad_norm_(parameters, 0.5)
        adam.step()
        mine.step()
        torch.testing.assert_close(mine.optimisers[POLICY].flat, theirs.optimisers[POLICY].flat, atol=1e-6, rtol=1e-5)


def test_a_learner_goes_on_where_its_state_was_taken() -> None:
    one, two = learner(0), learner(1)
    one.optimisers[POLICY].gradient.fill_(0.1)
    one.step()
    two.load(one.weights(), one.state())
    for each in (one, two):
        gradient = each.optimisers[POLICY].gradient
        gradient.copy_(torch.linspace(-1, 1, len(gradient)))
        each.step()
    flat = two.optimisers[POLICY].flat
    assert torch.equal(one.optimisers[POLICY].flat, flat)
    assert torch.equal(two.model.state_dict()["heads.bias"], flat[-3:])


def test_the_state_of_another_model_is_refused() -> None:
    other = learner(hidden=5)
    with pytest.raises(CheckpointMismatch):
        learner().load(learner().weights(), other.state())
    with pytest.raises(CheckpointMismatch):
        learner().load(other.weights(), {})


def several(seed: int = 0) -> Learner:
    """A policy with a critic, an optimiser each, and a lagged copy of the critic."""
    torch.manual_seed(seed)
    made = Learner({"policy": nn.Linear(3, 2), "critic": nn.Linear(3, 1)})
    made.optimiser("policy", ["policy"], learning_rate=0.1)
    made.optimiser("critic", ["critic"], learning_rate=0.2)
    made.lag("critic", tau=0.5)
    return made


def one_step(each: Learner) -> None:
    rows = torch.linspace(-1, 1, 12).reshape(4, 3)
    target = each.lagged("critic")(rows).detach()
    each.descend((each.nets["critic"](rows) - target - 1.0).square().mean(), "critic")
    each.descend(-each.nets["critic"](rows).detach().mul(each.nets["policy"](rows)).mean(), "policy")
    each.counters["seen"] = each.counters.get("seen", 0) + 4


def test_all_state_of_a_learner_goes_on_exactly() -> None:
    warm, cold = several(), several(seed=1)
    for _ in range(3):
        one_step(warm)
    cold.load(warm.weights(), warm.state())
    for _ in range(3):
        one_step(warm)
        one_step(cold)
    assert warm.state().keys() == cold.state().keys()
    for name, value in {**warm.state(), **warm.weights()}.items():
        other = {**cold.state(), **cold.weights()}[name]
        assert torch.equal(value, other) if isinstance(value, torch.Tensor) else value == other, name
    assert cold.counters == {"seen": 24.0} and cold.updates == 12


def test_a_lagged_copy_moves_by_its_share_and_in_its_steps() -> None:
    made = Learner(nn.Linear(1, 1, bias=False))
    made.optimiser(learning_rate=0.1)
    copy = made.lag(tau=0.25, every=2)
    before = copy.weight.clone()
    made.descend(made.model(torch.ones(1, 1)).sum())
    assert torch.equal(copy.weight, before)
    made.descend(made.model(torch.ones(1, 1)).sum())
    torch.testing.assert_close(copy.weight, before + 0.25 * (made.model.weight - before))
    made.load({"weight": torch.tensor([[7.0]])}, {})
    assert copy.weight.item() == 7.0  # weights from elsewhere: the copy starts from them too


def test_zero_grad_of_a_model_does_not_detach_its_gradients() -> None:
    usual, trapped = learner(), learner()
    rows, legal = torch.ones(4, 3), torch.ones(4, 2, dtype=torch.bool)
    for _ in range(3):
        for each in (usual, trapped):
            if each is trapped:
                each.model.zero_grad()  # sets every gradient to None
                each.model(rows, legal)[0].sum().backward()
                each.step()
            else:
                each.descend(each.model(rows, legal)[0].sum())
    assert torch.equal(usual.optimisers[POLICY].flat, trapped.optimisers[POLICY].flat)


@pytest.mark.parametrize(
    ("nets", "says"),
    [(["polcy"], "network 'polcy' is none of policy"), (["policy"], "belongs to optimiser 'policy'")],
)
def test_optimisers_over_wrong_networks_are_refused(nets: list[str], says: str) -> None:
    with pytest.raises(BadAlgorithm, match=says):
        learner().optimiser("second", nets, learning_rate=0.1)


class Ring:
    """Averages over threads, as an all-reduce does over processes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._barrier = threading.Barrier(size, timeout=5)
        self._parts: list[torch.Tensor] = []
        self._lock = threading.Lock()

    def average(self, tensor: torch.Tensor, meanwhile: Callable[[], object] | None = None, /) -> None:
        with self._lock:
            self._parts.append(tensor.clone())
        if meanwhile is not None:
            meanwhile()
        self._barrier.wait()
        total = torch.stack(self._parts).sum(0) / self._size
        self._barrier.wait()
        with self._lock:
            self._parts = []
        tensor.copy_(total)
        self._barrier.wait()


def together(works: Sequence[Callable[[Learner], None]]) -> list[Learner]:
    """Each work on a learner of its own, in a thread of its own; equal learners, one ring."""
    ring, learners = Ring(len(works)), [several() for _ in works]
    for each in learners:
        each.connect(ring.average)
    with ThreadPoolExecutor(len(works)) as threads:
        for done in [threads.submit(work, each) for work, each in zip(works, learners, strict=True)]:
            done.result()
    return learners


def test_unequal_numbers_of_steps_neither_hang_nor_part_the_processes() -> None:
    def work(steps: int, skips: int) -> Callable[[Learner], None]:
        def run(each: Learner) -> None:
            for _ in range(skips):
                each.skip()  # its buffer is still warming up
            for _ in range(steps):
                one_step(each)
            each.join()

        return run

    # a skip counts as a step of one optimiser, and one_step takes two
    one, two, three = together([work(3, 0), work(1, 0), work(1, 2)])
    for name, value in one.state().items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(value, two.state()[name]) and torch.equal(value, three.state()[name]), name
    assert one.updates == two.updates == three.updates == 6


def test_optimisers_in_another_order_are_refused_by_name() -> None:
    def work(first: str) -> Callable[[Learner], None]:
        return lambda each: each.descend(each.nets[first](torch.ones(1, 3)).sum(), first)

    with pytest.raises(BadAlgorithm, match="in the same order; one steps"):
        together([work("policy"), work("critic")])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"gama": 1.0}, "gama: no such option, did you mean 'gamma'"),
        ({"gamma": 1.5}, "gamma: must be less than or equal to 1"),
        ({"epochs": 1.5}, "epochs: must be a whole number"),
        ({"rollout_steps": "16"}, "rollout_steps: must be a whole number"),
        ({"epochs": 0}, "epochs: must be greater than or equal to 1"),
        ({"learning_rate": "fast"}, "learning_rate: must be a number"),
        ({"entropy": math.nan}, "entropy: must be a finite number"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadAlgorithm, match=says):
        parse_options(Component(id="ppo", options=options))


def test_an_algorithm_must_be_one() -> None:
    with pytest.raises(BadAlgorithm, match="not a subclass"):
        parse_options(Component(id="workers.models.mlp:Mlp"))
    assert parse_options(Component(id="ppo", options={"clip": 0.1})) == PpoOptions(clip=0.1)


class Earlier(Algorithm):
    """As algorithms were written for earlier releases."""

    options_class = None

    def update(self, batch: Any, rng: Any) -> Any:  # type: ignore[override]
        return {}


class Nothing(Algorithm):
    """Says nothing about learning."""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "Earlier",
            "earlier release: options_class is now `Options`.*; update.self, batch, rng. -> dict is now update",
        ),
        ("Nothing", "defines neither loss nor update"),
    ],
)
def test_algorithms_that_cannot_learn_are_refused_with_what_to_change(name: str, says: str) -> None:
    with pytest.raises(BadAlgorithm, match=says):
        algorithm_class(Component(id=f"{__name__}:{name}"))


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


def sat(probability: float, **given: Any) -> PlannedOpponent:
    return PlannedOpponent(player="p", version="v", probability=probability, **given)


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
        check_task(task(**given))


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
    sent = task(opponents=mixture, topology=Topology.SPLIT, opening_share=0.1, opening_plies=3)
    adapter = TypeAdapter(GenerationTask)
    assert adapter.validate_json(adapter.dump_json(sent)) == sent
