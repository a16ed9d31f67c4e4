"""Trajectories: every seat's own, whoever ends the game, across batches, and without a game loop."""

import numpy as np
import pytest

from tests.unit.training.samples import random_batch
from workers.algorithms.gae import gae
from workers.inference.policy import Policy
from workers.inference.server import PolicyServer
from workers.models.gru import GruNet
from workers.models.mlp import Mlp
from workers.rollout.batch import PENDING, TERMINAL, merge
from workers.rollout.builder import TrajectoryBuilder


def ids(*streams: int) -> np.ndarray:
    return np.array(streams, np.int64)


def decide(builder: TrajectoryBuilder, stream: int, value: float) -> None:
    builder.add(
        ids(stream),
        observations=np.full((1, 1), value, np.float32),
        legal=np.ones((1, 2), np.bool_),
        actions=ids(0),
        log_probs=np.zeros(1, np.float32),
        values=np.array([value], np.float32),
    )


def builder_of(streams: int, capacity: int = 100) -> TrajectoryBuilder:
    return TrajectoryBuilder(streams=streams, capacity=capacity, observation_shape=(1,), actions=2)


def test_a_seat_is_paid_for_an_end_on_the_others_move() -> None:
    builder = builder_of(2)
    for seat, value in ((0, 0.1), (1, 0.2), (0, 0.3)):
        decide(builder, seat, value)
    builder.earn(np.array([1.0, -1.0], np.float32))
    builder.end(ids(0, 1))
    batch = builder.take()
    assert batch.next_row.tolist() == [2, TERMINAL, TERMINAL]
    assert batch.rewards.tolist() == [0.0, -1.0, 1.0]
    targets = gae(batch, gamma=1.0, lam=1.0)
    np.testing.assert_allclose(targets.returns, [1.0, -1.0, 1.0], rtol=1e-6)


def test_rewards_between_two_decisions_belong_to_the_first() -> None:
    builder = builder_of(2)
    decide(builder, 0, 0.0)
    builder.earn(np.array([0.5, 9.0], np.float32))  # the other seat has decided nothing yet
    decide(builder, 1, 0.0)
    builder.earn(np.array([0.25, 1.0], np.float32))
    decide(builder, 0, 0.0)
    builder.end(ids(0, 1))
    assert builder.take().rewards.tolist() == [0.75, 1.0, 0.0]


def test_unfinished_decisions_bootstrap_now_and_train_in_the_next_batch() -> None:
    builder = builder_of(1)
    decide(builder, 0, 0.5)
    decide(builder, 0, 0.8)
    first = builder.take()
    assert first.next_row.tolist() == [1, PENDING]
    assert first.trainable.tolist() == [0]
    assert gae(first, gamma=0.5, lam=0.9).returns[0] == pytest.approx(0.4)
    builder.earn(np.array([2.0], np.float32))
    decide(builder, 0, 0.1)
    builder.end(ids(0))
    second = builder.take()
    assert second.observations[:, 0].tolist() == pytest.approx([0.8, 0.1])
    assert second.next_row.tolist() == [1, TERMINAL]
    assert second.rewards.tolist() == [2.0, 0.0]
    assert first.values.tolist() == pytest.approx([0.5, 0.8])  # still whole while the next was filled


def test_a_game_cut_off_bootstraps_from_its_last_decision() -> None:
    builder = builder_of(1)
    decide(builder, 0, 0.5)
    decide(builder, 0, 0.7)
    builder.cut(ids(0))
    decide(builder, 0, 0.9)
    batch = builder.take()
    assert batch.next_row.tolist() == [1, PENDING, PENDING]
    assert gae(batch, gamma=1.0, lam=1.0).returns[0] == pytest.approx(0.7)


def test_too_many_decisions_are_refused() -> None:
    builder = builder_of(1, capacity=1)
    decide(builder, 0, 0.0)
    with pytest.raises(ValueError, match="room for 1 decisions"):
        for _ in range(2):
            decide(builder, 0, 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_gae_equals_the_definition_along_each_link(seed: int) -> None:
    batch = random_batch(seed=seed)
    gamma, lam = 0.9, 0.8
    targets = gae(batch, gamma, lam)

    def advantage(row: int) -> float:
        following = int(batch.next_row[row])
        if following == PENDING:
            return 0.0
        ahead = 0.0 if following == TERMINAL else float(batch.values[following])
        error = float(batch.rewards[row]) + gamma * ahead - float(batch.values[row])
        return error + (gamma * lam * advantage(following) if following >= 0 else 0.0)

    expected = [advantage(row) for row in range(len(batch))]
    np.testing.assert_allclose(targets.advantages, expected, atol=1e-5)


def test_merged_batches_keep_their_own_links() -> None:
    parts = [random_batch(rows=24, seed=seed) for seed in (1, 2)]
    whole = merge(parts)
    expected = np.concatenate([gae(part, 0.9, 0.8).advantages for part in parts])
    np.testing.assert_array_equal(gae(whole, 0.9, 0.8).advantages, expected)


@pytest.mark.parametrize("recurrent", [False, True])
def test_games_that_call_in_need_no_vector_game(recurrent: bool) -> None:
    """A game process asks for one decision at a time, of two policies, and only tells us what it must."""
    kind = GruNet if recurrent else Mlp
    learner = Policy(kind(observation_shape=(1,), actions=2))
    server = PolicyServer({"learner": learner, "past": Policy(Mlp(observation_shape=(1,), actions=2))})
    builder = TrajectoryBuilder(
        streams=1, capacity=10, observation_shape=(1,), actions=2, state_size=learner.state_size
    )
    state = np.zeros((1, learner.state_size), np.float32)
    for tick in range(6):
        name = "learner" if tick % 2 == 0 else "past"
        observations, legal = np.full((1, 1), tick, np.float32), np.array([[True, tick != 2]])
        decided = server.decide([name], [("match-7", name)], observations, legal, np.array([0.99], np.float32))
        if tick == 2:
            assert decided.actions[0] == 0
        if name == "learner":
            expected = learner.decide(observations, legal, None, state if recurrent else None)
            assert decided.values[0] == expected.values[0]
            builder.add(
                ids(0),
                observations=observations,
                legal=legal,
                actions=decided.actions,
                log_probs=decided.log_probs,
                values=decided.values,
                states=state,
            )
            state = state if expected.states is None else expected.states
    builder.earn(np.array([1.0], np.float32), ids(0))
    builder.end(ids(0))
    server.forget([("match-7", "learner")])
    batch = builder.take()
    assert batch.trainable.tolist() == [0, 1, 2]
    np.testing.assert_allclose(gae(batch, 1.0, 1.0).returns, 1.0, rtol=1e-6)
    again = server.decide(["learner"], [("match-7", "learner")], batch.observations[:1], batch.legal[:1], None)
    assert again.values[0] == batch.values[0]


def test_an_unknown_policy_is_named() -> None:
    server = PolicyServer({"past": Policy(Mlp(observation_shape=(1,), actions=2))})
    with pytest.raises(KeyError, match="no policy future; served: past"):
        server.decide(["future"], [0], np.zeros((1, 1), np.float32), np.ones((1, 2), np.bool_), None)
