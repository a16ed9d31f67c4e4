"""Anchors: what they are after some updates and after a restart, and that they hold a player back."""

import numpy as np
import pytest
import torch

from orchestrator.catalog import Component
from tests.unit.training.samples import random_batch, updated
from workers.algorithms.building import build_learner
from workers.algorithms.contract import Algorithm, make_algorithm
from workers.algorithms.learner import Learner
from workers.games.protocol import GameSpec

SPEC = GameSpec(id="made-up", seats=1, observation_shape=(6,), actions=5, max_steps=9)


def made(model: str = "mlp", **options: object) -> tuple[Algorithm, Learner]:
    given = {"learning_rate": 0.01, "minibatch": 24, **options}
    algorithm = make_algorithm(Component(id="a2c", options=given), 48)
    return algorithm, build_learner(
        algorithm, Component(id=model, options={"hidden": 8} if model == "gru" else {}), SPEC, 1
    )


def weights(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([parameter.detach().reshape(-1) for parameter in module.parameters()])


@pytest.mark.parametrize(
    ("options", "moves"), [({"anchor": "initial"}, 0), ({"anchor": "lagged", "anchor_every": 4}, 4)]
)
def test_an_anchor_stays_or_is_renewed_and_survives_a_restart(options: dict[str, object], moves: int) -> None:
    algorithm, learner = made(**options)
    start = weights(learner.model)
    for _ in range(2):
        updated(algorithm, learner, random_batch())  # two gradient steps each
    fourth = weights(learner.model)
    updated(algorithm, learner, random_batch())
    wanted = fourth if moves else start
    assert torch.equal(weights(learner.lagged()), wanted)
    assert not torch.equal(weights(learner.model), wanted)
    _, again = made(**options)
    again.load(learner.weights(), learner.state())
    assert torch.equal(weights(again.lagged()), wanted)
    _, player = made(**options)
    player.load(learner.weights(), {})  # the first generation of a player with these initial weights
    assert torch.equal(weights(player.lagged()), weights(learner.model))


def test_a_heavy_anchor_holds_the_policy_back() -> None:
    moved = {}
    for weight in (0.0, 20.0):
        algorithm, learner = made(anchor="initial", anchor_weight=weight)
        for seed in range(20):
            metrics = updated(algorithm, learner, random_batch(), seed)
        moved[weight] = metrics["anchor_kl"]
    assert moved[20.0] < 0.1 * moved[0.0]


def test_a_recurrent_anchor_is_unrolled() -> None:
    algorithm, learner = made("gru", anchor="initial")
    batch = random_batch(states=learner.model.state_size)
    assert updated(algorithm, learner, batch)["anchor_kl"] == pytest.approx(0.0, abs=1e-2)
    assert np.isfinite(updated(algorithm, learner, batch)["anchor_kl"])
