"""Behaviour cloning, implicit Q-learning, and imitation mixed with PPO."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from tests.unit.algorithms.imitation.samples import GAME, box_rows, centre_games, learnt, process, write
from tests.unit.training.samples import random_batch
from workers.algorithms.building import build_learner
from workers.algorithms.contract import Algorithm, make_algorithm
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.imitation.iql import expectile_loss
from workers.algorithms.imitation.likelihood import agreement, log_likelihood
from workers.algorithms.learner import POLICY, Learner
from workers.buffers.contract import Batch
from workers.games.names import make_game
from workers.games.protocol import GameSpec

SMALL = {"minibatch": 64, "rollout_steps": 8, "learning_rate": 0.01, "validation_every": 4}
TASK = GenerationTask(
    game=GAME,
    model=Component(id="mlp", options={"hidden": [32]}),
    algorithm=Component(id="bc"),
    steps=4_000,
    seed=5,
    tables=64,
    player="main",
)
PENDULUM = Component(id="gymnasium", options={"env": "Pendulum-v1"})


def task(name: str, dataset: str, **options: Any) -> GenerationTask:
    return replace(TASK, algorithm=Component(id=name, options={**SMALL, "dataset": [dataset], **options}))


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("data") / "games.npz", centre_games())


def test_the_log_likelihood_is_that_of_a_loop() -> None:
    spec = make_game("tic_tac_toe", 1).spec
    net = build_learner(make_algorithm(Component(id="ppo")), TASK.model, spec, 1).nets[POLICY]
    data = centre_games(3)
    batch = Batch({name: torch.from_numpy(data[name]) for name in ("obs", "legal", "action")})
    net.requires_grad_(False)
    taken, entropy, values = log_likelihood(net, batch)
    greedy = 0
    for row in range(len(taken)):
        logits, value = net(batch["obs"][row : row + 1], batch["legal"][row : row + 1])
        legal = torch.exp(logits[0].double()) * batch["legal"][row]
        chances = legal / legal.sum()
        assert taken[row].item() == pytest.approx(float(torch.log(chances[batch["action"][row]])), abs=1e-5)
        shown = -sum(float(p * torch.log(p)) for p in chances if p > 0)
        assert entropy[row].item() == pytest.approx(shown, abs=1e-5)
        assert values[row].item() == pytest.approx(float(value), abs=1e-6)
        greedy += int(chances.argmax()) == int(batch["action"][row])
    assert agreement(net, batch)["accuracy"].item() == pytest.approx(greedy / len(taken))


def test_cloning_learns_what_the_data_do(games: str, tmp_path: Path) -> None:
    actor, metrics = learnt(task("bc", games, value_weight=0.5), tmp_path, 12)
    assert metrics["validation_accuracy"] > 0.6, "mean over the generation"
    later = actor.advance(4).metrics.values()
    # the first move of each game is at random: nobody can know it
    assert later["validation_accuracy"] > 0.75 > 1 / 9
    assert later["policy_loss"] < metrics["policy_loss"]
    assert {"validation_loss", "value_loss", "entropy"} <= metrics.keys()
    assert "games" not in metrics, "no game was played"


@pytest.mark.parametrize("head", ["gaussian", "squashed", "beta"])
def test_cloning_of_continuous_actions(head: str, tmp_path: Path) -> None:
    data = write(tmp_path / "rows.npz", box_rows())
    wanted = replace(
        task("bc", data), game=PENDULUM, model=Component(id="mlp", options={"hidden": [32], "head": head}), tables=8
    )
    actor, metrics = learnt(wanted, tmp_path, 60)
    assert metrics["validation_distance"] < 0.4, "mean over the generation, in halves of the range"
    assert actor.advance(20).metrics.values()["validation_distance"] < 0.1


def test_moments_of_normalised_models_come_from_the_data(tmp_path: Path) -> None:
    rows = box_rows()
    data = write(tmp_path / "rows.npz", rows)
    wanted = replace(
        task("iql", data, validation_share=0.0),
        game=PENDULUM,
        model=Component(id="mlp", options={"hidden": [8], "normalise": True}),
        tables=8,
    )
    actor, _ = learnt(wanted, tmp_path, 2)
    mean = actor._training.learner.nets[POLICY].state_dict()["mean"]
    assert np.allclose(mean, rows["obs"].mean(0), atol=0.1)
    assert actor._training.learner.nets["critic"].state_dict()["mean"].shape == (4,)


def test_the_expectile_loss_is_that_of_a_loop() -> None:
    errors = [-2.0, -0.5, 0.0, 1.0, 3.0]
    by_hand = sum((0.2 if error < 0 else 0.8) * error**2 for error in errors) / len(errors)
    assert expectile_loss(torch.tensor(errors), 0.8).item() == pytest.approx(by_hand)
    assert expectile_loss(torch.tensor(errors), 0.5).item() == pytest.approx(np.mean(np.square(errors)) / 2)


def test_iql_losses_are_those_of_a_loop(games: str, tmp_path: Path) -> None:
    actor, _ = learnt(task("iql", games, expectile=0.8, temperature=2.0), tmp_path, 1)
    training = actor._training
    drawn = training.buffer.draw(32, np.random.default_rng(1))
    assert drawn is not None
    batch, nets = drawn.tensors(), training.learner.all_nets()
    found = training.algorithm.losses(batch, nets)  # type: ignore[attr-defined]
    value = critic = policy = 0.0
    with torch.no_grad():
        for row in range(32):
            shown, action = batch["obs"][row : row + 1], int(batch["action"][row])
            legal, following = batch["legal"][row : row + 1], batch["next/obs"][row : row + 1]
            here = float(nets["value"](shown, legal)[1])
            after = float(nets["value"](following, batch["next/legal"][row : row + 1])[1])
            lagged = float(nets["lagged/critic"](shown, None)[0][0, action])
            advantage = lagged - here
            value += (0.8 if advantage >= 0 else 0.2) * advantage**2 / 32
            target = float(batch["reward"][row]) + float(batch["discount"][row]) * after
            critic += (target - float(nets["critic"](shown, None)[0][0, action])) ** 2 / 32
            chance = torch.log_softmax(nets["policy"](shown, legal)[0], 1)[0, action]
            policy -= min(np.exp(2.0 * advantage), 100.0) * float(chance) / 32
    for name, by_hand in (("value_loss", value), ("critic_loss", critic), ("policy_loss", policy)):
        assert found[name].item() == pytest.approx(by_hand, rel=1e-4), name


def test_iql_prefers_the_better_of_the_datas_actions(tmp_path: Path) -> None:
    """Half of the data goes left and earns nothing, half goes right and earns 1: cloning cannot tell, IQL can."""
    rows = 400
    first = centre_games(1)
    columns = {
        "obs": np.repeat(first["obs"][:1], rows, 0),
        "legal": np.repeat(first["legal"][:1], rows, 0),
        "action": np.arange(rows) % 2,
        "reward": (np.arange(rows) % 2).astype(np.float32),
        "terminal": np.ones(rows),
    }
    data = write(tmp_path / "bandit.npz", columns)
    chances = {}
    even = {"validation_share": 0.0, "learning_rate": 0.003}
    for name, options in (("bc", even), ("iql", {**even, "target_rate": 0.1, "learning_rate": 0.01})):
        actor, _ = learnt(task(name, data, **options), tmp_path, 30)
        shown = torch.from_numpy(columns["obs"][:1]), torch.from_numpy(columns["legal"][:1])
        with torch.no_grad():
            logits = actor._training.learner.model(*shown)[0][0, :2]
        chances[name] = float(torch.softmax(logits, 0)[1])
    assert chances["bc"] == pytest.approx(0.5, abs=0.15)
    assert chances["iql"] > 0.8


def test_the_weight_of_imitation_falls_and_reinforcement_takes_its_place(games: str, tmp_path: Path) -> None:
    options = {"imitation": 1.0, "imitation_end": 0.0, "imitation_rows": 2_000, "imitation_minibatch": 64}
    actor, metrics = learnt(task("sl_rl", games, **options), tmp_path, 4)
    assert metrics["imitation"] > 0.4
    assert metrics["validation_accuracy"] > 0.2
    assert {"imitation_loss", "value_loss", "kl"} <= metrics.keys()
    later = actor.advance(4).metrics.values()
    assert later["imitation"] < 0.1
    final = actor.advance(1).metrics.values()
    assert final["imitation"] == 0.0
    assert "imitation_loss" not in final
    assert actor.counts().games > 0, "it plays"


def test_full_imitation_moves_the_policy_by_the_data_alone(games: str, tmp_path: Path) -> None:
    """With w = 1 the policy's gradient is that of cloning: the entropy bonus and the ratio count for nothing."""
    base = {"imitation": 1.0, "epochs": 1, "imitation_minibatch": 64, "target_kl": 0.0, "value_weight": 0.0}
    weights = []
    for entropy in (0.0, 5.0):
        actor, _ = learnt(task("sl_rl", games, **base, entropy=entropy), tmp_path, 1)
        weights.append(torch.cat([part.flatten() for part in actor._training.learner.model.state_dict().values()]))
    assert torch.equal(*weights)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_a_mixed_step_is_that_of_the_written_loss(weight: float, tmp_path: Path) -> None:
    """(1 - w) of PPO's policy gradient, w of the likelihood's, and the value's in full."""
    rows = 40
    played = random_batch(rows, width=3)
    # every row of the data set is the same, so that it does not matter which are drawn
    shown = {"obs": np.full((rows, 3), 0.5, np.float32), "action": np.full(rows, 2), "reward": np.zeros(rows)}
    data = write(tmp_path / "one.npz", {**shown, "terminal": np.ones(rows), "legal": np.ones((rows, 5), bool)})
    spec = GameSpec(id="made-up", seats=1, observation_shape=(3,), actions=5, max_steps=9)
    base = {"epochs": 1, "minibatch": 1000, "gradient_clip": 0.0}

    def learner_of(name: str, **options: Any) -> tuple[Algorithm, Learner]:
        algorithm = make_algorithm(Component(id=name, options={**base, **options}), rows)
        return algorithm, build_learner(algorithm, Component(id="mlp", options={"hidden": [8]}), spec, 3)

    def gradient(algorithm: Algorithm, learner: Learner) -> torch.Tensor:
        buffer = algorithm.buffer(spec)
        buffer.add(played)
        for _ in algorithm.update(learner, buffer, np.random.default_rng(0)):
            pass
        return learner.optimisers[POLICY].gradient.clone()

    policy = gradient(*learner_of("ppo", value_weight=0.0))
    value = gradient(*learner_of("ppo")) - policy
    _, cloner = learner_of("ppo")
    logits, _ = cloner.model(torch.full((1, 3), 0.5), None)
    parts = torch.autograd.grad(-torch.log_softmax(logits, 1)[0, 2], list(cloner.model.parameters()))
    cloning = torch.cat([part.flatten() for part in parts])
    found = gradient(*learner_of("sl_rl", dataset=[data], imitation=weight, validation_share=0.0))
    torch.testing.assert_close(found, (1 - weight) * policy + weight * cloning + value, atol=1e-5, rtol=1e-3)


def test_recurrent_models_are_refused(games: str) -> None:
    spec = make_game("tic_tac_toe", 1).spec
    for name in ("bc", "iql", "sl_rl"):
        algorithm = make_algorithm(task(name, games).algorithm)
        with pytest.raises(BadAlgorithm, match="recurrent"):
            build_learner(algorithm, Component(id="gru"), spec, 0)


def test_steps_of_an_offline_player_are_rows_learnt_from(games: str, tmp_path: Path) -> None:
    actor = process(task("bc", games), tmp_path)
    actor.prepare(task("bc", games), True)
    report = actor.advance(3)
    assert report.steps == report.metrics.values()["rows"] == 3 * 8 * 64
