"""Soft Q-learning's targets and temperature against slow sums."""

import math
from typing import cast

import pytest
import torch

from orchestrator.catalog import Component
from orchestrator.spec.algorithms.value_based import SqnOptions
from tests.unit.algorithms.value_based.steps import legal_actions, rows
from workers.algorithms.building import build_learner
from workers.algorithms.differentiable import differentiable
from workers.algorithms.learner import POLICY
from workers.algorithms.value_based.sqn import SECOND, TEMPERATURE, Sqn, entropy_excess, soft_value
from workers.games.names import make_game
from workers.inference.boltzmann import Boltzmann
from workers.models.temperature import Temperature


@pytest.mark.parametrize("masked", [False, True])
def test_the_soft_value_is_the_policy_s_value_plus_its_entropy(masked: bool) -> None:
    given = rows(4, 4, seed=1, masked=masked)
    values, legal, alpha = given.later[:, :-1], given.batch.legal, 0.7
    found, excess = soft_value(values, legal, alpha), entropy_excess(values, legal, alpha, 0.4)
    for row in range(len(values)):
        allowed = legal_actions(legal, row, 4)
        total = sum(math.exp(float(values[row, a]) / alpha) for a in allowed)
        policy = {a: math.exp(float(values[row, a]) / alpha) / total for a in allowed}
        entropy = -sum(p * math.log(p) for p in policy.values())
        wanted = sum(p * float(values[row, a]) for a, p in policy.items()) + alpha * entropy
        assert float(found[row]) == pytest.approx(wanted, abs=1e-5)
        assert float(excess[row]) == pytest.approx(entropy - 0.4 * math.log(len(allowed)), abs=1e-5)


def test_a_step_descends_both_losses_and_the_temperature_s() -> None:
    spec = make_game("tic_tac_toe", 1).spec
    algorithm = Sqn(SqnOptions(temperature=0.5, entropy_share=0.3))
    learner = build_learner(algorithm, Component(id="mlp", options={"hidden": [8]}), spec, 1)
    given = rows(9, 9, seed=2).batch
    draw = torch.Generator().manual_seed(3)
    for name in ("obs", "next/obs"):
        given[name] = torch.rand(12, *spec.observation_shape, generator=draw)
    temperature = cast(Temperature, learner.nets[TEMPERATURE])
    nets = [(differentiable(learner, name), differentiable(learner, name, lagged=True)) for name in (POLICY, SECOND)]
    algorithm._descend(nets, temperature, given)
    found = learner.optimisers[POLICY].gradient.clone()

    learner.optimisers[POLICY].clear()
    with torch.no_grad():
        least = torch.minimum(*(learner.lagged(name)(given.next_obs, None)[0] for name in (POLICY, SECOND)))
        wanted = given["reward"] + given["discount"] * soft_value(least, given.next_legal, 0.5)
    loss = torch.zeros(())
    for name in (POLICY, SECOND):
        taken = learner.nets[name](given.obs, None)[0].gather(1, given["action"].unsqueeze(1)).squeeze(1)
        loss = loss + (given["weight"] * 0.5 * (taken - wanted) ** 2).mean()
    with torch.no_grad():
        excess = entropy_excess(learner.model(given.obs, None)[0], given.legal, 0.5, 0.3).mean()
    (loss + temperature.log.sum() * excess).backward()  # type: ignore[no-untyped-call]
    assert torch.allclose(found, learner.optimisers[POLICY].gradient, atol=1e-5)


def test_it_acts_by_the_softmax_at_its_temperature() -> None:
    spec = make_game("tic_tac_toe", 1).spec
    algorithm = Sqn(SqnOptions(temperature=0.25))
    learner = build_learner(algorithm, Component(id="mlp", options={"hidden": [8]}), spec, 1)
    actor = algorithm.actor(learner.all_nets())
    assert isinstance(actor, Boltzmann) and actor.signature == pytest.approx(0.25)
    draws = (torch.arange(5000) + 0.5).div(5000).numpy()
    outputs = torch.tensor([[0.0, 0.25, 0.5]]).expand(5000, 3)
    actions, _ = actor.sample(outputs, draws)
    shares = torch.bincount(actions, minlength=3) / 5000
    assert shares.tolist() == pytest.approx(torch.softmax(torch.tensor([0.0, 1.0, 2.0]), 0).tolist(), abs=1e-3)
