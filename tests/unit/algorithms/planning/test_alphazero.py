"""AlphaZero: it searches in its rollouts, learns from what it found, and refuses games that cannot be searched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.search.test_search import positions, tic_tac_toe
from tests.unit.training.learning.test_exact_resume import new_process
from workers.algorithms.building import actor_of, build_learner
from workers.algorithms.contract import make_algorithm
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.planning.alphazero import mirror
from workers.bots.minimax import value
from workers.buffers.contract import Batch
from workers.checkpoints import load
from workers.games.names import make_game
from workers.inference.policy import Policy

MLP = Component(id="mlp", options={"hidden": [64, 64]})


def wrong_moves(policy: Policy) -> float:
    """The share of tic-tac-toe positions in which the network's best move gives the game's value away."""
    game = positions(tic_tac_toe, 512, 6)
    turn = game.turn()
    stones = np.array(turn.observations).reshape(512, 2, 9).astype(np.int64) @ (1 << np.arange(9))
    chosen = policy.decide(turn.observations, turn.legal, None).actions.tolist()
    wrong = [
        -value(theirs, mine | 1 << action) != value(mine, theirs)
        for (mine, theirs), action in zip(stones.tolist(), chosen, strict=True)
    ]
    return float(np.mean(wrong))


def test_the_network_learns_from_the_search(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path))
    options = {"simulations": 32, "rollout_steps": 4, "minibatch": 128, "replay_ratio": 8.0, "warm_up": 200}
    task = GenerationTask(
        game=Component(id="tic_tac_toe"),
        model=MLP,
        algorithm=Component(id="alphazero", options=options),
        steps=12_000,
        seed=1,
        tables=48,
        player="main",
    )
    actor, spec = new_process(task, store), tic_tac_toe(1).spec
    actor.prepare(task, True)
    before = wrong_moves(actor_of(load(store, actor.save(0, [])), spec))
    first = actor.advance(10).metrics.values()
    report = actor.advance(30)
    last = report.metrics.values()
    assert last["policy_loss"] < first["policy_loss"]
    policy = actor_of(load(store, actor.save(report.steps, [])), spec)
    assert type(policy) is Policy  # a version plays by its network
    assert wrong_moves(policy) < 0.3 < before


@pytest.mark.parametrize("name", ["kuhn_poker", "soccer"])
def test_games_with_hidden_or_simultaneous_moves_are_refused(name: str) -> None:
    algorithm = make_algorithm(Component(id="alphazero"))
    with pytest.raises(BadAlgorithm, match="move in turn and see everything"):
        build_learner(algorithm, MLP, make_game(name, 1).spec, 0)


@pytest.mark.parametrize("name", ["connect_four", "tic_tac_toe"])
def test_games_are_the_same_in_their_mirror(name: str) -> None:
    game, other = make_game(name, 32), make_game(name, 32)
    mirrored, rng = np.array(game.spec.mirrored), np.random.default_rng(1)
    for each in (game, other):
        each.reset(np.arange(32, dtype=np.uint64))
    for _ in range(12):
        turn, turned = game.turn(), other.turn()
        assert turn.legal is not None and turned.legal is not None
        batch = Batch(
            obs=torch.from_numpy(np.array(turn.observations)),
            legal=torch.from_numpy(turn.legal.copy()),
            policy=torch.from_numpy(turn.legal / turn.legal.sum(1, keepdims=True)),
        )
        seen = mirror(batch, torch.arange(32) % 2 == 0, torch.from_numpy(mirrored))
        np.testing.assert_array_equal(seen["obs"][::2].numpy(), np.array(turned.observations)[::2])
        np.testing.assert_array_equal(seen["legal"][::2].numpy(), turned.legal[::2])
        np.testing.assert_array_equal(seen["policy"][::2].numpy() > 0, turned.legal[::2])
        np.testing.assert_array_equal(seen["obs"][1::2].numpy(), np.array(turn.observations)[1::2])
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in turn.legal])
        rewards = game.step(actions).rewards.copy()
        np.testing.assert_array_equal(rewards, other.step(mirrored[actions]).rewards)
