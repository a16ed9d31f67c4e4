"""Trajectories: every seat's own, whoever ends the game, across batches, and without a game loop."""

import numpy as np
import pytest

from tests.unit.training.samples import random_batch
from workers.algorithms.targets.gae import gae
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
        {
            "obs": np.full((1, 1), value, np.float32),
            "legal": np.ones((1, 2), np.bool_),
            "action": ids(0),
            "log_prob": np.zeros(1, np.float32),
            "value": np.array([value], np.float32),
        },
    )


def builder_of(streams: int, capacity: int = 100) -> TrajectoryBuilder:
    return TrajectoryBuilder(streams=streams, capacity=capacity)


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
    builder.truncate(ids(0))
    decide(builder, 0, 0.9)
    batch = builder.take()
    assert batch.next_row.tolist() == [1, PENDING, PENDING]
    assert gae(batch, gamma=1.0, lam=1.0).returns[0] == pytest.approx(0.7)


def cut_with_finals(streams: int = 2) -> TrajectoryBuilder:
    """Stream 0: decisions of value 0.5 and 0.7, cut at a final observation of value 2; stream 1 goes on."""
    builder = builder_of(streams, capacity=3)
    decide(builder, 0, 0.5)
    decide(builder, 1, 0.1)
    decide(builder, 0, 0.7)
    builder.earn(np.array([1.0, 4.0], np.float32))
    rows = builder.truncate(ids(0))
    assert rows.tolist() == [2] and builder.truncate(ids(0)).tolist() == [-1]
    final = {
        "obs": np.full((1, 1), 9, np.float32),
        "legal": np.ones((1, 2), np.bool_),
        "action": ids(0),
        "log_prob": np.zeros(1, np.float32),
        "value": np.array([2.0], np.float32),
    }
    for _ in range(4):  # more rows than there was room for
        builder.add_finals(rows, ids(0), final)
    return builder


def test_a_game_cut_off_bootstraps_from_its_final_observation() -> None:
    builder = cut_with_finals()
    batch = builder.take()
    assert batch.next_row.tolist() == [2, PENDING, 6, PENDING, PENDING, PENDING, PENDING]
    assert batch.finals.tolist() == [3, 4, 5, 6] and batch.trainable.tolist() == [0, 2]
    assert batch.truncated.tolist() == [False, False, True, False, False, False, False]
    assert gae(batch, gamma=0.5, lam=1.0).returns[[0, 2]].tolist() == pytest.approx([1.0, 2.0])
    following = batch.transitions()
    assert following.columns["next/obs"][:, 0].tolist() == pytest.approx([0.7, 9.0])
    assert not following.columns["terminal"].any() and not len(following.finals)
    decide(builder, 0, 0.3)
    after = builder.take()
    assert after.streams.tolist() == [1, 0], "only a decision is carried over"
    assert after.carried.tolist() == [0] and not len(after.finals)
    assert merge([after, batch]).finals.tolist() == [5, 6, 7, 8]


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
    builder = TrajectoryBuilder(streams=1, capacity=10)
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
            columns = {
                "obs": observations,
                "legal": legal,
                "action": decided.actions,
                "log_prob": decided.log_probs,
                "value": decided.values,
                "state": state,
            }
            builder.add(ids(0), columns)
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


def test_other_columns_than_the_first_are_refused() -> None:
    builder = builder_of(1)
    builder.add(ids(0), {"obs/board": np.zeros((1, 2, 2), np.uint8), "action": np.zeros((1, 3), np.float32)})
    with pytest.raises(ValueError, match="had the columns obs/board, action; these have obs"):
        builder.add(ids(0), {"obs": np.zeros((1, 4))})
    batch = builder.take()
    assert batch.columns["obs/board"].dtype == np.uint8 and batch.actions.shape == (1, 3)
    assert list(batch.observations) == ["board"]


def test_transitions_hold_the_successors_observations() -> None:
    batch = random_batch()
    alone = batch.transitions()
    rows = batch.trainable
    assert len(alone) == len(rows) < len(batch)
    ended = batch.next_row[rows] == TERMINAL
    np.testing.assert_array_equal(alone.columns["terminal"], ended)
    np.testing.assert_array_equal(alone.columns["next/obs"][~ended], batch.observations[batch.next_row[rows][~ended]])
    assert not alone.columns["next/obs"][ended].any()
    assert not np.shares_memory(alone.columns["obs"], batch.columns["obs"])


def test_joint_columns_have_all_seats_of_a_table_side_by_side() -> None:
    builder = TrajectoryBuilder(streams=4, capacity=100, teams=(0, 1))
    for step in range(3):
        order = ids(2, 0, 3, 1)  # rows may come in any order
        builder.add(order, {"obs": 10.0 * step + order})
    batch = builder.take()
    assert batch.team.tolist() == [0, 0, 1, 1] * 3
    assert batch.joint()["obs"][1].tolist() == [[10.0, 11.0], [12.0, 13.0]]
    rows = builder.truncate(ids(0, 1))
    builder.add(ids(0, 1, 2, 3), {"obs": np.zeros(4)})
    builder.add_finals(rows, ids(0, 1), {"obs": np.ones(2)})
    again = builder.take()
    assert len(again.finals) == 2 and again.joint()["obs"].tolist() == [[[20.0, 21.0], [22.0, 23.0]], [[0, 0], [0, 0]]]
    builder.add(ids(0), {"obs": np.zeros(1)})
    with pytest.raises(ValueError, match="every seat"):
        builder.take().joint()


def test_carried_rows_and_tables_stay_apart_in_a_merged_batch() -> None:
    builders = [builder_of(2), builder_of(2)]
    for builder in builders:
        decide(builder, 1, 0.5)
        builder.take()
        decide(builder, 1, 0.7)
    whole = merge([builder.take() for builder in builders])
    assert whole.carried.tolist() == [0, 2]
    assert whole.streams.tolist() == [1, 1, 3, 3] and whole.tables == 4
