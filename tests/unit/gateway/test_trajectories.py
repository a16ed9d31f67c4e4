"""Episodes become batches of exactly the wanted size, whose links bootstrap where episodes were cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workers.algorithms.targets.gae import gae
from workers.buffers.replay import Replay
from workers.games.protocol import GameSpec
from workers.gateway.contract import Episode
from workers.gateway.trajectories import ExperienceQueue
from workers.rollout.batch import PENDING, TERMINAL, Experience

SPEC = GameSpec(id="line", seats=2, observation_shape=(1,), actions=4, max_steps=50)


def episode(start: int, rows: int, *, seat: int = 0, over: bool = True, final: int | None = None) -> Episode:
    """Observations, values and actions count up from `start`; rewards are 1."""
    numbers = np.arange(start, start + rows)
    return Episode(
        session="s",
        seat=seat,
        columns={**columns(numbers), "reward": np.ones(rows, np.float32)},
        over=over,
        final=None if final is None else columns(np.array([final])),
        acted_by=numbers + 1000,
    )


def columns(numbers: Any) -> dict[str, Any]:
    return {"obs": numbers[:, None].astype(np.float32), "value": numbers.astype(np.float32), "action": numbers % 4}


def chains(batch: Experience) -> list[list[int]]:
    """The observations along each chain of links; a final observation is negative, an ended game's chain ends in 0."""
    followed = set(batch.next_row[batch.next_row >= 0].tolist())
    found = []
    for row in range(len(batch)):
        if row in followed:
            continue
        chain = []
        while row not in (TERMINAL, PENDING):
            sign = -1 if row in batch.finals else 1
            chain.append(sign * int(batch.columns["obs"][row, 0]))
            row = int(batch.next_row[row])
        found.append([*chain, 0] if row == TERMINAL else chain)
    return sorted(found)


def test_a_batch_has_exactly_the_wanted_decisions_and_the_others_stay() -> None:
    queue = ExperienceQueue(SPEC)
    assert queue.put(episode(10, 3)) == 3
    assert queue.take(4) is None
    assert queue.put(episode(20, 4, seat=1, over=False, final=24)) == 4
    first = queue.take(5)
    assert first is not None and len(queue) == 2
    assert chains(first) == [[10, 11, 12, 0], [20, 21, -22]]
    second = queue.take(2)
    assert second is not None and chains(second) == [[22, 23, -24]]
    assert queue.take(1) is None
    for batch, rows in ((first, 5), (second, 2)):
        assert batch.trainable_rows == rows and len(batch) == rows + len(batch.finals)
        assert batch.columns["reward"][batch.trainable].tolist() == [1.0] * rows
        assert (batch.columns["reward"][batch.finals] == 0).all()
        assert (batch.acted_by[batch.trainable] == batch.columns["obs"][batch.trainable, 0] + 1000).all()


def test_links_lead_to_later_steps_of_the_same_stream() -> None:
    queue = ExperienceQueue(SPEC)
    for number, rows in enumerate((4, 1, 3, 2)):
        queue.put(episode(100 * number, rows, seat=number % 2, over=number != 2, final=302 if number == 2 else None))
    batch = queue.take(10)
    assert batch is not None
    assert batch.tables == 4 and batch.offsets.tolist() == [0, 4, 7, 9, 10, 11]
    linked = np.flatnonzero(batch.next_row >= 0)
    after = batch.next_row[linked]
    assert (batch.step[after] > batch.step[linked]).all() and (batch.streams[after] == batch.streams[linked]).all()
    decisions = batch.trainable
    assert (batch.seat[decisions] == batch.columns["obs"][decisions, 0] // 100 % 2).all()
    assert batch.truncated.sum() == 1


def test_a_decision_without_a_known_successor_only_bootstraps() -> None:
    queue = ExperienceQueue(SPEC)
    assert queue.put(episode(1, 3, over=False)) == 2
    assert queue.put(episode(9, 1, over=False)) == 0
    batch = queue.take(2)
    assert batch is not None and chains(batch) == [[1, 2, -3]]


def test_advantages_are_those_of_the_whole_game_wherever_it_is_split() -> None:
    whole, parted = ExperienceQueue(SPEC), ExperienceQueue(SPEC)
    for queue in (whole, parted):
        queue.put(episode(1, 5))
    batch, first, second = whole.take(5), parted.take(2), parted.take(3)
    assert batch is not None and first is not None and second is not None
    expected = gae(batch, gamma=0.9, lam=0.0).returns
    split = [gae(part, gamma=0.9, lam=0.0).returns[part.trainable] for part in (first, second)]
    assert np.allclose(np.concatenate(split), expected)


def test_replay_buffers_take_the_batches() -> None:
    queue = ExperienceQueue(SPEC)
    buffer = Replay(capacity=100)
    queue.put(episode(1, 4, over=False, final=5))
    for _ in range(2):
        batch = queue.take(2)
        assert batch is not None
        buffer.add(batch)
    drawn = buffer.draw(64, np.random.default_rng(1))
    assert drawn is not None
    seen, after = drawn.columns["obs"], drawn.columns["next/obs"]
    assert (after == seen + 1).all() and set(seen[:, 0]) == {1, 2, 3, 4}


def test_episodes_of_other_columns_are_refused_until_it_is_cleared() -> None:
    queue = ExperienceQueue(SPEC)
    queue.put(episode(1, 2))
    other = episode(1, 2)
    other.columns["log_prob"] = np.zeros(2, np.float32)
    with pytest.raises(ValueError, match=r"log_prob float32\[\]"):
        queue.put(other)
    queue.clear()
    assert queue.put(other) == 2 and len(queue) == 2
    with pytest.raises(ValueError, match="at least 1 row"):
        queue.take(0)
