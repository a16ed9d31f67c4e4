"""Team steps: rows of mates at one table and time become one row, with links, rewards and absent mates."""

from collections.abc import Iterator

import numpy as np
import pytest

from workers.buffers.joint import JointReplay
from workers.games.errors import BadGame
from workers.rollout.batch import PENDING, TERMINAL, Experience
from workers.rollout.builder import TrajectoryBuilder
from workers.rollout.joint import join_teams, team_ranks

TEAMS = (0, 1, 0, 1)
TABLES = 3


def played(steps: int, seed: int = 0, absent: int | None = None) -> Iterator[Experience]:
    """Batches of two steps each of three tables and two teams; `absent` is a seat that another player has."""
    rng = np.random.default_rng(seed)
    builder = TrajectoryBuilder(streams=TABLES * 4, capacity=2 * TABLES * 4, teams=TEAMS)
    streams = np.array([stream for stream in range(TABLES * 4) if stream % 4 != absent])
    for step in range(steps):
        shuffled = rng.permutation(streams)
        builder.add(shuffled, {"obs": shuffled[:, None] + 100.0 * step, "global": shuffled // 4 + 100.0 * step})
        builder.earn(np.arange(TABLES * 4, dtype=np.float32) + 1000 * step)
        if step % 3 == 2:
            builder.end(np.arange(4))  # the game at table 0
        if step % 2:
            yield builder.take()


@pytest.mark.parametrize("absent", [None, 2])
def test_rows_of_mates_are_joined(absent: int | None) -> None:
    for batch in played(8, absent=absent):
        joined = join_teams(batch)
        where = zip(batch.step.tolist(), batch.table.tolist(), batch.seat.tolist(), strict=True)
        at = {place: row for row, place in enumerate(where)}
        steps = joined.step
        assert len(joined) == len({(s, t, TEAMS[seat]) for s, t, seat in at})
        for row in range(len(joined)):
            step, table, team = int(steps[row]), int(joined.streams[row]) // 2, int(joined.streams[row]) % 2
            seats = [seat for seat in range(4) if TEAMS[seat] == team]
            mates = [at.get((step, table, seat)) for seat in seats]
            there = [mate for mate in mates if mate is not None]
            assert joined.columns["present"][row].tolist() == [mate is not None for mate in mates]
            seen = [0 if mate is None else batch.columns["obs"][mate, 0] for mate in mates]
            assert joined.columns["obs"][row, :, 0].tolist() == seen
            assert joined.columns["global"][row] == batch.columns["global"][there[0]]
            assert joined.columns["reward"][row] == sum(batch.rewards[mate] for mate in there)
            assert joined.columns["team"][row] == team
            link = int(batch.next_row[there[0]])
            assert (joined.next_row[row] in (PENDING, TERMINAL)) == (link in (PENDING, TERMINAL))
            if link >= 0:
                after = int(joined.next_row[row])
                assert joined.streams[after] == joined.streams[row] and steps[after] == batch.step[link]
            assert (row in joined.carried) == (there[0] in batch.carried)


def test_a_replay_completes_team_steps_over_batches() -> None:
    buffer = JointReplay(capacity=1000, gamma=0.5)
    for batch in played(8):
        buffer.add(batch)
    assert len(buffer) == 8 * TABLES * 2
    drawn = buffer.draw(300, np.random.default_rng(0))
    assert drawn is not None
    for obs, after, reward, discount, state in zip(
        *(drawn.columns[name] for name in ("obs", "next/obs", "reward", "discount", "global")), strict=True
    ):
        step, streams = divmod(obs[:, 0], 100)
        assert streams[1] == streams[0] + 2 and (step == step[0]).all() and state == 100 * step[0] + streams[0] // 4
        assert reward == streams.sum() + 2000 * step[0]
        ends = streams[0] // 4 == 0 and step[0] % 3 == 2
        assert discount == (0.0 if ends else 0.5)
        assert after[:, 0].tolist() == ([0.0, 0.0] if ends else (obs[:, 0] + 100).tolist())
    again = JointReplay(capacity=1000, gamma=0.5)
    again.load(buffer.state())
    other = again.draw(300, np.random.default_rng(0))
    assert other is not None and all(np.array_equal(other.columns[name], drawn.columns[name]) for name in drawn.columns)


def test_a_seat_that_leaves_is_refused() -> None:
    builder = TrajectoryBuilder(streams=2, capacity=8, teams=(0, 0))
    for streams in ([0, 1], [0, 1], [1], [1]):
        builder.add(np.array(streams), {"obs": np.ones((len(streams), 1))})
    with pytest.raises(BadGame, match="a seat left a game that goes on"):
        join_teams(builder.take())


def test_seats_are_numbered_within_their_team() -> None:
    assert team_ranks((0, 1, 0, 1, 1)).tolist() == [0, 0, 1, 1, 2]


def test_final_observations_of_several_games_at_one_table_stay_apart() -> None:
    builder = TrajectoryBuilder(streams=4, capacity=16, teams=(0, 0))
    cut = []
    for step in range(3):
        builder.add(np.arange(4), {"obs": np.arange(4.0)[:, None] + 10 * step})
        builder.earn(np.ones(4, np.float32))
        if step < 2:
            cut.append(builder.truncate(np.array([0, 1])))  # table 0 is truncated after each step
    finals = np.array([100.0, 101.0, 110.0, 111.0])[:, None]
    builder.add_finals(np.concatenate(cut), np.array([0, 1, 0, 1]), {"obs": finals})
    joined = join_teams(builder.take())
    obs = joined.columns["obs"][:, :, 0].tolist()
    assert [obs[row] for row in joined.finals] == [[100.0, 101.0], [110.0, 111.0]]
    after = {tuple(obs[row]): joined.next_row[row] for row in range(len(joined))}
    assert obs[after[0.0, 1.0]] == [100.0, 101.0] and obs[after[10.0, 11.0]] == [110.0, 111.0]
    assert obs[after[2.0, 3.0]] == [12.0, 13.0] and after[20.0, 21.0] == PENDING
    assert np.array_equal(joined.offsets, [0, 2, 4, 6, 8])
