"""Evolution strategies: noise, ranks, returns of members, one update by hand, and whole generations."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from tests.unit.training.learning.test_exact_resume import generation, new_process
from tests.unit.training.learning.test_learner import Ring
from workers.algorithms.building import actor_of, build_learner
from workers.algorithms.contract import make_algorithm
from workers.algorithms.errors import BadAlgorithm, UpdateStopped
from workers.algorithms.evolution.es import Es, member_sums
from workers.algorithms.evolution.population import centred_ranks, noise
from workers.algorithms.learner import Learner
from workers.buffers.fresh import Fresh
from workers.checkpoints import load
from workers.crews.task import GenerationTask
from workers.games.names import make_game
from workers.inference.policy import Policy
from workers.rollout.batch import PENDING, TERMINAL, Experience

TASK = GenerationTask(
    game=Component(id="gymnasium", options={"env": "CartPole-v1"}),
    model=Component(id="mlp", options={"hidden": [8]}),
    algorithm=Component(id="es", options={"rollout_steps": 30, "population": 8}),
    steps=480,
    seed=3,
    tables=8,
    player="main",
)


def test_noise_is_a_function_of_seed_and_iteration_and_more_pairs_begin_alike() -> None:
    first = noise(1, 2, 4, 10)
    assert np.array_equal(first, noise(1, 2, 9, 10)[:4])
    assert not np.array_equal(first, noise(1, 3, 4, 10)) and not np.array_equal(first, noise(2, 2, 4, 10))
    assert abs(noise(0, 0, 100, 100).std() - 1.0) < 0.05


def test_ranks_are_centred_and_equal_values_share_theirs() -> None:
    np.testing.assert_allclose(centred_ranks(np.array([30.0, -5.0, 7.0])), [0.5, -0.5, 0.0])
    np.testing.assert_allclose(centred_ranks(np.array([1.0, 2.0, 2.0, 9.0])), [-0.5, 0.0, 0.0, 0.5])
    np.testing.assert_allclose(centred_ranks(np.zeros(4)), np.zeros(4))


def played() -> Experience:
    """Two streams, five steps. Stream 0 ends a game after 2 steps and a truncated one after 4; stream 1 never ends."""
    links = [2, 3, TERMINAL, 5, 6, 7, 10, 9, PENDING, PENDING, PENDING]
    return Experience(
        columns={
            "reward": np.array([1, 10, 2, 20, 4, 30, 8, 40, 16, 50, 0], np.float32),
            "member": np.array([2, 1] * 5 + [2]),
            "iteration": np.zeros(11, np.int64),
        },
        next_row=np.array(links),
        offsets=np.array([0, 2, 4, 6, 8, 10, 11]),
        streams=np.array([0, 1] * 5 + [0]),
        acted_by=np.zeros(11, np.int64),
        finals=np.array([10]),
        tables=2,
    )


def test_whole_games_count_and_a_first_one_that_was_cut_off() -> None:
    games, sums = member_sums(played(), 4)
    assert games.tolist() == [0, 1, 2, 0], "the third game of stream 0 has only begun"
    assert sums.tolist() == [0, 150, 15, 0]


def test_an_update_is_the_papers() -> None:
    algorithm = make_algorithm(Component(id="es", options={"population": 4, "weight_decay": 0.1}))
    spec = make_game("gymnasium", 1, env="CartPole-v1").spec
    learner = build_learner(algorithm, TASK.model, spec, 1)
    optimiser, source = learner.optimisers["policy"], learner.nets["noise"]
    before = optimiser.flat.clone()
    buffer = Fresh()
    buffer.add(played())
    list(algorithm.update(learner, buffer, np.random.default_rng(0)))
    wanted = np.zeros(len(before))
    drawn = noise(int(source.seed), 0, 2, len(before))
    for member, rank in ((1, 0.5), (2, -0.5)):  # 150 against 15 / 2; nobody played 0 and 3
        wanted += rank * (-1) ** member * drawn[member // 2] / (4 * 0.1)
    torch.testing.assert_close(
        optimiser.gradient, 0.1 * before - torch.from_numpy(wanted).float(), atol=1e-5, rtol=1e-5
    )
    assert int(source.iteration) == 1 and not torch.equal(before, optimiser.flat)


def test_a_stop_of_one_process_ends_the_update_of_all_before_a_step() -> None:
    algorithm = make_algorithm(Component(id="es", options={"population": 4}))
    spec = make_game("gymnasium", 1, env="CartPole-v1").spec
    ring, asked, buffer = Ring(2), threading.Event(), Fresh()
    learners = [build_learner(algorithm, TASK.model, spec, 1) for _ in range(2)]
    learners[0].connect(ring.average, asked.is_set)
    learners[1].connect(ring.average)
    buffer.add(played())

    def update(learner: Learner) -> None:
        list(algorithm.update(learner, buffer, np.random.default_rng(0)))

    def stopped(learner: Learner) -> None:
        with pytest.raises(UpdateStopped):
            update(learner)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(update, learners))
        learnt = [learner.optimisers["policy"].flat.clone() for learner in learners]
        assert torch.equal(*learnt)
        asked.set()
        list(threads.map(stopped, learners))
    for learner, before in zip(learners, learnt, strict=True):
        assert torch.equal(learner.optimisers["policy"].flat, before)
        assert learner.updates == int(learner.nets["noise"].iteration) == 1


def test_each_table_plays_its_member_and_seats_of_another_team_the_opposite() -> None:
    algorithm = make_algorithm(Component(id="es", options={"population": 4, "noise_scale": 2.0}))
    assert isinstance(algorithm, Es)
    game = make_game("connect_four", 1)
    learner = build_learner(algorithm, TASK.model, game.spec, 1)
    actor = algorithm.actor(learner.all_nets())
    rng = np.random.default_rng(0)
    shown = {"obs": rng.random((9, *game.spec.observation_shape), np.float32), "legal": np.ones((9, 7), np.bool_)}
    tables, seats = np.array([0, 1, 2, 3, 3, 2, 0, 5, 4]), np.array([0, 0, 0, 0, 1, 1, 0, 0, 1])
    explore = algorithm.explore_at(0.0, tables, 6)
    found = actor.act({**shown, "table": tables, "seat": seats}, rng.random(9, np.float32), explore)
    assert found["member"].tolist() == [0, 1, 2, 3, 2, 3, 0, 1, 1]
    drawn = noise(int(learner.nets["noise"].seed), 0, 2, len(learner.optimisers["policy"].flat))
    for row, member in enumerate(found["member"]):
        alone = build_learner(algorithm, TASK.model, game.spec, 1)
        alone.optimisers["policy"].flat.add_(torch.from_numpy(drawn[member // 2]) * (2.0 if member % 2 == 0 else -2.0))
        own = Policy(alone.model).decide(shown["obs"][row : row + 1], shown["legal"][row : row + 1], None)
        assert own.actions[0] == found["action"][row]


def test_too_few_tables_are_refused() -> None:
    algorithm = make_algorithm(Component(id="es", options={"population": 32}))
    with pytest.raises(BadAlgorithm, match="population 32 members at a table of its own; the processes have 16 tables"):
        algorithm.explore_at(0.0, np.arange(16), 16)


@pytest.mark.parametrize("game", [TASK.game, Component(id="tic_tac_toe")], ids=["one seat", "two players"])
@pytest.mark.parametrize(
    "model", [TASK.model, Component(id="gru", options={"hidden": 8, "state": 4})], ids=["mlp", "gru"]
)
def test_a_new_process_goes_on_bit_for_bit(game: Component, model: Component, tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path))
    task = replace(TASK, game=game, model=model)
    warm = new_process(task, store)
    first, metrics = generation(warm, task, True)
    assert metrics.values()["gradient_norm"] > 0
    games = warm.counts().games  # the first at each table in each of six updates, if it was not too long
    assert games == 48 if game.id == "tic_tac_toe" else 24 < games <= 48
    following = replace(task, seed=4, checkpoint=first)
    continued, _ = generation(warm, following, False)
    resumed, _ = generation(new_process(task, store), following, True)
    assert resumed.sha256 == continued.sha256 != first.sha256
    spec = make_game(game.id, 1, **game.options).spec
    assert actor_of(load(store, first), spec).placed, "a checkpoint plays as its algorithm does"
