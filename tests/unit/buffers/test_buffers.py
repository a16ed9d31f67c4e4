"""Buffers: rows come back with their successors, whatever the batches; each kind draws by its rule."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.buffers.samples import LENGTH, counting, cut_off, drawn, expected, filled
from workers.buffers.contract import Buffer
from workers.buffers.dataset import Dataset, from_columns, write
from workers.buffers.fresh import Fresh
from workers.buffers.mixture import Mixture
from workers.buffers.prioritised import Prioritised, SumTree
from workers.buffers.replay import Replay
from workers.buffers.sequences import Sequences
from workers.rollout.batch import PENDING, TERMINAL


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("capacity", [1000, 40])
def test_rows_have_the_rewards_and_the_successors_that_were_played(capacity: int, compressed: bool) -> None:
    """Over the edges of batches and of the ring; the last rows, which lack three successors yet, are left out."""
    buffer = filled(Replay(capacity=capacity, gamma=0.5, n_step=3, compressed=compressed))
    found = drawn(buffer)
    columns = found.columns
    assert columns["obs"].dtype == np.uint8 and len(found) == 200
    for row in range(200):
        if columns["obs"][row][1] >= 26:
            continue
        reward, discount, following = expected(columns["obs"][row], 3, 0.5)
        assert columns["reward"][row] == pytest.approx(reward)
        assert columns["discount"][row] == pytest.approx(discount)
        assert columns["next/obs"][row].tolist() == following
    numbers = set(columns["obs"][:, 1].tolist())
    assert 29 not in numbers  # its successor is to come
    assert min(numbers) == (0 if capacity == 1000 else 30 - 40 // 3 - 1)


KINDS: dict[str, Callable[[int], Buffer]] = {
    "replay": lambda n: Replay(capacity=1000, gamma=0.5, n_step=n),
    "a small ring": lambda n: Replay(capacity=40, gamma=0.5, n_step=n),
    "compressed": lambda n: Replay(capacity=1000, gamma=0.5, n_step=n, compressed=True),
    "prioritised": lambda n: Prioritised(capacity=1000, gamma=0.5, n_step=n),
    "fresh": lambda n: Fresh(gamma=0.5),
    "sequences": lambda n: Sequences(capacity=1000, gamma=0.5, n_step=n, length=1),
}


@pytest.mark.parametrize("n_step", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_before_a_games_cut_bootstrap_from_its_final_observation(kind: str, n_step: int) -> None:
    """n-step sums stop there, final observations are never drawn, and games after the cut are whole."""
    buffer = KINDS[kind](n_step)
    for batch in cut_off(6):
        buffer.add(batch)
    columns = drawn(buffer, 400).columns
    if kind == "sequences":
        columns = {name: column[0] for name, column in columns.items() if name != "state"}
    if kind == "fresh":
        n_step = 1
    finals = 0
    for obs, reward, discount, following in zip(
        *(columns[name] for name in ("obs", "reward", "discount", "next/obs")), strict=True
    ):
        stream, number = map(int, obs)
        if number + n_step > 29:
            continue
        left = min(n_step, LENGTH - number % LENGTH)
        assert reward == pytest.approx(sum(0.5**k * (number + k) for k in range(left)))
        assert (discount, following.tolist()) == (0.5**left, [stream, number + left])
        finals += (number + left) % LENGTH == 0
    assert finals > 10
    assert (29 in columns["obs"][:, 1]) is False


def test_sequences_end_where_a_game_was_cut_off() -> None:
    buffer = Sequences(capacity=1000, length=4, gamma=0.5)
    for batch in cut_off(6):
        buffer.add(batch)
    found = drawn(buffer, 200).columns
    for row in range(200):
        first = int(found["obs"][0, row, 1])
        inside = [first // LENGTH == (first + step) // LENGTH and first + step < 29 for step in range(4)]
        assert found["mask"][:, row].tolist() == inside
        last = sum(inside) - 1
        assert found["next/obs"][last, row].tolist() == [found["obs"][0, row, 0], first + last + 1]
        assert (found["discount"][:, row] == 0.5).all()


def test_a_data_sets_games_end_at_terminal_and_truncated_rows() -> None:
    columns = {
        "obs": np.arange(6),
        "action": np.zeros(6),
        "reward": np.ones(6),
        "terminal": np.array([0, 1, 0, 0, 0, 0]),
        "truncated": np.array([0, 0, 0, 1, 0, 1]),
    }
    assert from_columns(columns).next_row.tolist() == [1, TERMINAL, 3, PENDING, 5, PENDING]
    del columns["truncated"]
    assert from_columns(columns).next_row.tolist() == [1, TERMINAL, 3, 4, 5, TERMINAL]


def test_every_decision_is_stored_once() -> None:
    buffer = Replay(capacity=1000)
    filled(buffer)
    assert len(buffer) == 3 * 30
    assert {tuple(obs) for obs in drawn(buffer, 4000).columns["obs"].tolist()} == {
        (stream, number) for stream in range(3) for number in range(29)
    }


def test_a_new_source_leaves_the_old_ones_open_rows_alone() -> None:
    buffer = Replay(capacity=1000)
    filled(buffer, 1)
    filled(buffer, 1)
    assert len(buffer) == 30
    assert 4 not in drawn(buffer, 500).columns["obs"][:, 1]


def test_nothing_is_drawn_while_it_warms_up() -> None:
    buffer = Replay(capacity=1000, warm_up=20)
    batches = counting(2)
    buffer.add(batches[0])
    assert buffer.draw(4, np.random.default_rng(0)) is None  # 15 decisions, 12 of them with a successor
    buffer.add(batches[1])
    assert drawn(buffer, 4).weights.tolist() == [1.0] * 4


def test_a_batch_larger_than_the_ring_is_refused() -> None:
    with pytest.raises(ValueError, match="an update adds 15 decisions; raise capacity, which is 10"):
        filled(Replay(capacity=10), 1)


def test_a_sum_tree_finds_leaves_in_proportion() -> None:
    tree = SumTree(6)
    tree.set(np.arange(6), np.array([1.0, 0.0, 2.0, 3.0, 0.0, 4.0]))
    assert tree.total == 10.0
    found = tree.find(np.linspace(0, 10, 1001))
    assert np.bincount(found, minlength=6).tolist() == pytest.approx([100, 0, 200, 300, 0, 401])
    tree.set(np.array([5, 0]), np.array([0.0, 0.5]))
    assert tree.total == 5.5 and tree.get(np.array([0, 5])).tolist() == [0.5, 0.0]


def test_surprising_rows_are_drawn_more_often_and_count_less() -> None:
    buffer = filled(Prioritised(capacity=1000, alpha=1.0, beta=1.0, gamma=0.5))
    first = drawn(buffer, 2000)
    assert (first.weights == 1.0).all()  # all new rows alike
    surprise = np.where(first.columns["obs"][:, 1] == 5, 3.0, 1.0).astype(np.float32)
    buffer.feedback(first.ids, surprise)
    later = drawn(buffer, 29 * 300)
    fives = later.columns["obs"][:, 1] == 5
    assert fives.mean() == pytest.approx(3 / 31, rel=0.05)
    assert later.weights[fives] == pytest.approx(1 / 3, rel=1e-4) and later.weights[~fives] == pytest.approx(1.0)


def test_priorities_of_overwritten_rows_are_not_set() -> None:
    buffer = Prioritised(capacity=40)
    batches = counting(6)
    buffer.add(batches[0])
    old = drawn(buffer, 10)
    for batch in batches[1:]:
        buffer.add(batch)
    before = buffer.state()["priorities"].copy()
    buffer.feedback(old.ids, np.full(10, 99.0, np.float32))
    np.testing.assert_array_equal(buffer.state()["priorities"], before)


def test_sequences_follow_one_seat_and_stop_at_the_end_of_a_game() -> None:
    buffer = filled(Sequences(capacity=1000, length=4, burn_in=2))
    found = drawn(buffer, 100).columns
    assert found["obs"].shape == (6, 100, 2) and found["state"].shape == (100, 2)
    for row in range(100):
        stream, first = found["obs"][0, row].tolist()
        assert found["state"][row].tolist() == [stream, first]
        for step in range(6):
            inside = first // LENGTH == (first + step) // LENGTH and first + step < 29
            assert found["mask"][step, row] == (inside and step >= 2)
            if inside:
                assert found["obs"][step, row].tolist() == [stream, first + step]


def test_a_data_set_is_drawn_from_files_and_not_from_play(tmp_path: Path) -> None:
    for number, batch in enumerate(counting(2)):
        write(tmp_path / f"part-{number}.npz", batch)
    buffer = Dataset(str(tmp_path / "*.npz"), gamma=0.9)
    stored = len(buffer)
    buffer.add(counting(1)[0])
    assert len(buffer) == stored and buffer.newest is not None and not buffer.remembers
    columns = drawn(buffer, 50).columns
    reward, discount, following = expected(columns["obs"][0], 1, 0.9)
    assert (columns["reward"][0], columns["next/obs"][0].tolist()) == (reward, following)
    assert columns["discount"][0] == pytest.approx(discount)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"obs": np.zeros(3)}, "needs the columns obs, action and reward; it has obs"),
        ({"obs": np.zeros(3), "action": np.zeros(2), "reward": np.zeros(2)}, "obs has another length than action"),
    ],
)
def test_files_that_are_no_data_set_are_refused_by_name(tmp_path: Path, columns: dict[str, Any], says: str) -> None:
    np.savez(tmp_path / "bad.npz", **columns)
    with pytest.raises(ValueError, match=f"bad.npz.*{says}|bad.npz: {says}"):
        Dataset(str(tmp_path / "bad.npz"))
    with pytest.raises(FileNotFoundError, match="no file is called"):
        Dataset(str(tmp_path / "nothing-*.npz"))


def test_a_mixture_draws_in_proportion_and_tells_each_part_of_its_rows(tmp_path: Path) -> None:
    recorded = Dataset([counting(3)[0]])
    own = Prioritised(capacity=1000, alpha=1.0)
    mixture = Mixture([(own, 3.0), (recorded, 1.0)])
    assert mixture.draw(8, np.random.default_rng(0)) is not None  # the data set alone, while the other is empty
    filled(mixture)
    found = drawn(mixture, 400)
    assert np.bincount(found.ids % 2).tolist() == [300, 100]
    mixture.feedback(found.ids, np.full(400, 5.0, np.float32))
    assert own.state()["largest"] == pytest.approx(5.0)
    assert not recorded.remembers and mixture.remembers


def test_fresh_experience_is_that_of_the_last_batch() -> None:
    buffer = filled(Fresh(gamma=0.5))
    columns = drawn(buffer).columns
    assert set(columns["obs"][:, 1]) == {24, 25, 26, 27, 28}
    for obs, following, discount in zip(columns["obs"], columns["next/obs"], columns["discount"], strict=True):
        assert (following.tolist(), float(discount)) == (expected(obs, 1, 0.5)[2], expected(obs, 1, 0.5)[1])


def test_streams_may_come_in_batches_of_their_own_and_in_any_order() -> None:
    """As from the actors of an asynchronous crew: no decision is stored twice, and each finds its successor."""
    first, second = counting(4), [replace(batch, streams=batch.streams + 3) for batch in counting(4)]
    buffer = Replay(capacity=1000)
    for batch in (first[0], first[1], second[0], first[2], second[1], second[2], second[3], first[3]):
        buffer.add(batch)
    assert len(buffer) == 2 * 4 * 5 * 3
    waiting = (buffer._next == -2)[: len(buffer)].sum()
    assert waiting == 2 * 3, "the last decision of each stream"
