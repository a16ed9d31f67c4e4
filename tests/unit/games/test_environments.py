"""Games of Gymnasium and PettingZoo at our tables: the same observations, masks, rewards and ends."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest

from workers.games.adapters.gymnasium import GymnasiumGame
from workers.games.adapters.pettingzoo import AecGame, ParallelGame
from workers.games.builtin.connect_four import ConnectFour
from workers.games.errors import BadGame
from workers.games.seeding import mix_ints

HERE = "tests.unit.games.environments"


def seeds(*values: int) -> np.ndarray:
    return np.array(values, np.uint64)


def test_cartpole_is_gymnasiums_cartpole() -> None:
    game = GymnasiumGame(tables=2, env="CartPole-v1")
    game.reset(seeds(3, 4))
    env = gymnasium.make("CartPole-v1")
    shown, _ = env.reset(seed=mix_ints(4) >> 33)
    assert (game.spec.scoring, game.spec.max_steps, game.spec.seats) == ("returns", 500, 1)
    over, action = False, 0
    while not over:
        assert game.turn().observations[1].tolist() == shown.tolist()
        result = game.step(np.array([0, action]))
        shown, reward, over, _, _ = env.step(action)
        assert (result.rewards[1, 0], result.done[1]) == (reward, over)
        action = 1
    assert game.games[1] == 1


def test_discrete_observations_are_one_hot_and_masks_are_kept() -> None:
    game = GymnasiumGame(tables=1, env=f"{HERE}:Guess", max_steps=9)
    game.reset(seeds(1))
    secret = game.environments[0].secret
    assert game.turn().observations.tolist() == [[1, 0, 0]]
    wrong = (secret + 1) % 4
    game.step(np.array([wrong]))
    assert game.turn().legal.tolist() == [[action != wrong for action in range(4)]]
    assert game.turn().observations.tolist() == [[0, float(wrong > secret), float(wrong < secret)]]


@pytest.mark.parametrize(("limit", "expected"), [(9, 5), (3, 3)])
def test_games_are_cut_off_by_the_environment_or_by_the_limit(limit: int, expected: int) -> None:
    game = GymnasiumGame(tables=1, env=f"{HERE}:Guess", max_steps=limit)
    game.reset(seeds(1))
    secret = game.environments[0].secret
    wrong = [(secret + 1) % 4, (secret + 2) % 4]
    results = [game.step(np.array([wrong[step % 2]])) for step in range(expected)]
    assert [bool(r.done[0]) for r in results] == [False] * (expected - 1) + [True]
    assert [bool(r.truncated[0]) for r in results] == [False] * (expected - 1) + [True]
    assert game.games.tolist() == [1]


def test_a_solved_game_is_no_truncation() -> None:
    game = GymnasiumGame(tables=1, env=f"{HERE}:Guess", max_steps=9)
    game.reset(seeds(1))
    result = game.step(np.array([game.environments[0].secret]))
    assert (result.done[0], result.truncated[0], result.rewards[0, 0]) == (True, False, 1)


def test_pettingzoos_connect_four_is_ours() -> None:
    theirs, ours = AecGame(tables=8, env="classic/connect_four_v3"), ConnectFour(tables=8)
    rng = np.random.default_rng(5)
    finished = 0
    for game in (theirs, ours):
        game.reset(np.arange(8, dtype=np.uint64))
    for _ in range(200):
        mine, other = ours.turn(), theirs.turn()
        assert mine.seats.tolist() == other.seats.tolist()
        assert mine.legal.tolist() == other.legal.tolist()
        # PettingZoo's planes come last and its rows from the top.
        assert (np.moveaxis(other.observations, 3, 1)[:, :, ::-1] == mine.observations).all()
        actions = np.argmax(mine.legal * rng.random(mine.legal.shape), axis=1)
        expected, result = ours.step(actions), theirs.step(actions)
        assert result.done.tolist() == expected.done.tolist()
        assert result.rewards.tolist() == expected.rewards.tolist()
        finished += int(result.done.sum())
    assert finished > 40


@pytest.mark.parametrize("cut", [False, True])
def test_an_aec_agent_that_is_out_is_passed_over(cut: bool) -> None:
    game = AecGame(tables=1, env=f"{HERE}:Countdown", options={"cut": cut})
    game.reset(seeds(0))
    seats, rewards = [], []
    for _ in range(8):
        turn = game.turn()
        seats.append(int(turn.seats[0]))
        assert turn.legal[0].tolist() == [True, seats.count(seats[-1]) <= 2]
        result = game.step(np.array([0]))
        rewards.append(result.rewards[0].tolist())
        if result.done[0]:
            break
    assert seats == [0, 1, 2, 0, 2, 0, 2]
    assert rewards[0] == [1, -0.5, -0.5]
    assert rewards[3] == [1, 0, -0.5]
    assert result.truncated.tolist() == [cut]


def test_rows_of_a_parallel_game_follow_the_agents_still_in_it() -> None:
    game = ParallelGame(tables=2, env=f"{HERE}:Survivors")
    game.reset(seeds(0, 1))
    turn = game.turn()
    assert turn.tables.tolist() == [0, 0, 0, 1, 1, 1]
    assert turn.legal.tolist() == [[True, True, False], [True, True, False], [True, True, True]] * 2
    result = game.step(np.array([0, 1, 0, 0, 0, 0]))
    assert result.rewards.tolist() == [[0, 1, 0], [0, 0, 0]]
    turn = game.turn()
    assert turn.tables.tolist() == [0, 0, 1, 1, 1]
    assert turn.seats.tolist() == [0, 2, 0, 1, 2]
    assert turn.observations[:, 1].tolist() == [ord(agent) for agent in "acabc"]
    assert game.history(0) == [0, 1, 0]
    with pytest.raises(BadGame, match=r"int64 actions of shape \(5,\)"):
        game.step(np.zeros(6, np.int64))
    result = game.step(np.array([1, 1, 0, 0, 2]))
    assert result.done.tolist() == [True, False]
    assert result.rewards.tolist() == [[2, 0, 2], [0, 0, 0]]
    assert game.turn().tables.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (GymnasiumGame, {"env": "NoSuchGame-v0"}, "Gymnasium cannot make 'NoSuchGame-v0'"),
        (GymnasiumGame, {"env": f"{HERE}:Nothing"}, "does not import"),
        (GymnasiumGame, {"env": f"{HERE}:Survivors"}, "Survivors; allowed: a subclass of Env"),
        (GymnasiumGame, {"env": f"{HERE}:Guess"}, "no step limit of its own; set max_steps"),
        (
            GymnasiumGame,
            {"env": f"{HERE}:spoken", "max_steps": 5},
            r"Text.*allowed: Discrete, Multi",
        ),
        (AecGame, {"env": "classic/no_such_v0"}, "PettingZoo cannot make 'classic/no_such_v0' as aec"),
        (AecGame, {"env": f"{HERE}:Survivors"}, "Survivors; allowed: a subclass of AECEnv"),
        (
            ParallelGame,
            {"env": f"{HERE}:Survivors", "options": {"shapes": (2, 2, 3)}},
            "agents observe different shapes",
        ),
    ],
)
def test_what_cannot_be_played_is_refused_at_once(make: type, options: dict, message: str) -> None:
    with pytest.raises(BadGame, match=message):
        make(tables=1, **options)


def test_a_module_that_fails_at_its_import_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_world.py").write_text("raise RuntimeError('no display')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadGame, match="broken_world:World' does not import: RuntimeError: no display"):
        GymnasiumGame(tables=1, env="broken_world:World")
