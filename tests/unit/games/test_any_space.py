"""Environments of any observation and action space, in this process and in others."""

import os
import subprocess
import sys
import time
from typing import Any

import numpy as np
import psutil
import pytest
from gymnasium import spaces

from tests.unit.games.environments import ACTIONS
from workers.bots.names import make_bot
from workers.bots.protocol import BadBot, bot_input
from workers.games.adapters.gymnasium import GymnasiumGame
from workers.games.adapters.pettingzoo import ParallelGame
from workers.games.adapters.process_tables import ProcessTables, TableProcessDied
from workers.games.errors import BadGame, IllegalAction
from workers.games.protocol import GameSpec
from workers.games.replay import replay
from workers.games.spaces import ActionLayout
from workers.user_traceback import user_traceback

ROBOT = "tests.unit.games.environments:Robot"


def robots(tables: int, **options: Any) -> GymnasiumGame:
    extra = {name: options.pop(name) for name in ("workers", "variants") if name in options}
    return GymnasiumGame(tables=tables, env=ROBOT, options=options, max_steps=9, **extra)


def played(game: GymnasiumGame, steps: int = 8) -> list[Any]:
    """Everything that random play shows."""
    game.reset(np.arange(game.tables, dtype=np.uint64))
    bot = make_bot("random", game.spec)
    shown: list[Any] = []
    for _ in range(steps):
        turn = game.turn()
        shown += [turn.observations[name].tolist() for name in turn.observations]
        result = game.step(bot.act(bot_input(game, turn)))
        shown += [result.rewards.tolist(), result.done.tolist()]
    return [*shown, game.history(0), game.render_text(1)]


def test_parts_of_an_observation_are_named_arrays_of_their_types() -> None:
    game = robots(2)
    game.reset(np.arange(2, dtype=np.uint64))
    seen = game.turn().observations
    assert {name: (part.shape, str(part.dtype)) for name, part in seen.items()} == {
        "camera": ((2, 4, 4, 3), "uint8"),
        "joints": ((2, 2), "float32"),
        "mode": ((2, 3), "float32"),
        "pair/0": ((2, 2), "float32"),
        "pair/1": ((2, 1), "float32"),
    }
    assert seen["mode"].sum(axis=1).tolist() == [1, 1]
    assert game.turn().legal is None
    with pytest.raises(BadGame, match="have the parts camera, joints, mode, pair/0, pair/1, not one shape"):
        _ = game.spec.observation_shape
    with pytest.raises(BadGame, match=r"actions are Box.*; only Discrete actions have a number"):
        _ = game.spec.actions


@pytest.mark.parametrize("actions", ACTIONS)
def test_any_action_reaches_the_environment_and_comes_back_from_a_record(actions: str) -> None:
    game = robots(2, actions=actions, length=4)
    game.reset(np.array([3, 4], np.uint64))
    bot = make_bot("random", game.spec)
    returns = np.zeros(2)
    game.auto_reset = False
    for _ in range(4):
        result = game.step(bot.act(bot_input(game, game.turn())))
        returns += result.rewards[:, 0]
    *_, last = replay(lambda tables: robots(tables, actions=actions, length=4), 3, game.history(0))
    assert last.done and last.returns == pytest.approx((returns[0],))


def test_actions_outside_the_space_are_clipped_or_refused() -> None:
    game = robots(1)
    game.reset(np.zeros(1, np.uint64))
    assert game.step(np.array([[5, 9]], np.float32)).rewards.tolist() == [[5]]  # 1 + 4
    with pytest.raises(IllegalAction, match=r"chose action \[nan, 0.0\]; legal there: Box"):
        game.step(np.array([[np.nan, 0]], np.float32))
    with pytest.raises(BadGame, match=r"step takes float32 actions of shape \(1, 2\)"):
        game.step(np.zeros(1, np.int64))
    several = robots(1, actions="several")
    several.reset(np.zeros(1, np.uint64))
    with pytest.raises(IllegalAction, match=r"chose action \[1, 3\]; legal there: \[\[0, 1\], \[0, 1, 2\]\]"):
        several.step(np.array([[1, 3]]))


def test_tables_in_other_processes_play_the_same_games() -> None:
    assert played(robots(5, workers=2, actions="nested")) == played(robots(5, actions="nested"))
    assert _survivors(2) == _survivors(0)


def _survivors(workers: int) -> list[Any]:
    game = ParallelGame(tables=3, env="tests.unit.games.environments:Survivors", workers=workers)
    game.reset(np.arange(3, dtype=np.uint64))
    shown = []
    for step in range(6):
        turn = game.turn()
        result = game.step((turn.tables + turn.seats + step) % 2)
        shown += [turn.tables.tolist(), turn.observations.tolist(), result.rewards.tolist(), result.done.tolist()]
    return shown


def test_each_game_draws_its_variant_from_its_seed() -> None:
    game = robots(16, actions="binary", variants=[{"scale": 1.0}, {"scale": 100.0}])
    game.reset(np.arange(16, dtype=np.uint64))
    paid = game.step(np.ones((16, 3), np.int8)).rewards[:, 0]
    assert sorted(set(paid.tolist())) == [3, 300]
    alone = robots(1, actions="binary", variants=[{"scale": 1.0}, {"scale": 100.0}])
    for seed in range(4):
        alone.reset(np.array([seed], np.uint64))
        assert alone.step(np.ones((1, 3), np.int8)).rewards[0, 0] == paid[seed]
    with pytest.raises(BadGame, match=r"variant 1 has the action_space MultiBinary\(3\), the first Box"):
        robots(1, variants=[{}, {"actions": "binary"}])
    with pytest.raises(BadGame, match="variants is an empty list"):
        robots(1, variants=[])


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_in_the_environment_shows_the_users_traceback(workers: int) -> None:
    game = robots(2, workers=workers, fail_at=1)
    game.reset(np.zeros(2, np.uint64))
    with pytest.raises(ZeroDivisionError, match="the robot fell") as caught:
        game.step(np.zeros((2, 2), np.float32))
    assert 'raise ZeroDivisionError("the robot fell")' in user_traceback(caught.value)


def test_a_process_that_dies_is_reported_and_all_end_with_the_game() -> None:
    game = robots(2, workers=2)
    game.reset(np.zeros(2, np.uint64))
    tables = game._tables
    assert isinstance(tables, ProcessTables)
    children = [child.process for child in tables._children]
    children[0].kill()
    with pytest.raises(TableProcessDied, match="ended with code -9"):
        game.step(np.zeros((2, 2), np.float32))
    tables.close()
    assert all(child.wait(10) for child in children)


def test_processes_of_tables_die_with_a_killed_parent() -> None:
    script = (
        "import numpy as np, time; from tests.unit.games.test_any_space import robots; game = robots(2, workers=2); "
        "game.reset(np.zeros(2, np.uint64)); print(*[c.process.pid for c in game._tables._children], flush=True); "
        "time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        parent.kill()
    assert len(pids) == 2
    deadline = time.monotonic() + 20
    while any(map(psutil.pid_exists, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(psutil.pid_exists, pids))


def test_a_vector_entry_point_steps_all_tables_of_rollouts() -> None:
    game = GymnasiumGame(tables=3, env="CartPole-v1", vector=True)
    plain = GymnasiumGame(tables=3, env="CartPole-v1")
    lengths: list[list[int]] = [[], [], []]
    game.reset(np.arange(3, dtype=np.uint64))
    for _ in range(80):
        turn = game.turn()
        assert turn.observations.shape == (len(turn.tables), 4)
        result = game.step(np.zeros(len(turn.tables), np.int64))
        for table in np.flatnonzero(result.done):
            lengths[table].append(len(lengths[table]))
        assert game.plies.max() < 12
    assert min(map(len, lengths)) >= 5
    # games that others choose are those of the plain environment
    for each in (game := GymnasiumGame(tables=2, env="CartPole-v1", vector=True), plain):
        each.auto_reset = False
        each.reset(np.arange(each.tables, dtype=np.uint64))
    assert game.turn().observations.tolist() == plain.turn().observations[:2].tolist()
    with pytest.raises(BadGame, match="has no vector entry point; leave vector out"):
        GymnasiumGame(tables=1, env="MountainCar-v0", vector=True)


def test_bots_play_any_space_or_refuse_it_by_name() -> None:
    game = robots(3)
    game.reset(np.arange(3, dtype=np.uint64))
    asked = bot_input(game, game.turn())
    drawn = make_bot("random", game.spec).act(asked)
    assert (drawn >= [-1, 0]).all() and (drawn <= [1, 4]).all() and len({*drawn[:, 0].tolist()}) == 3
    assert make_bot("first-legal", game.spec).act(asked).tolist() == [[0, 0]] * 3
    for name in ("mixed-0.5-0.5", "always-1", "mcts-10", "minimax"):
        with pytest.raises(BadBot, match="Robot"):
            make_bot(name, game.spec)


def test_a_layout_turns_actions_into_numbers_and_back() -> None:
    rng = np.random.default_rng(0)
    for space in ACTIONS.values():
        layout = ActionLayout(space)
        actions = layout.draw(rng.random((20, layout.width)))
        assert actions.dtype == layout.dtype and actions.shape == (20, *layout.shape)
        assert all(space.contains(layout.to_environment(action)) for action in actions)
        numbers = layout.numbers(actions)
        assert abs(numbers).max() < 2**31
        assert (layout.from_numbers(numbers.ravel().tolist()) == actions).all()
        assert layout.inside(actions).all()
    masked = ActionLayout(spaces.MultiDiscrete([2, 3]))
    legal = np.array([[False, True, True, False, False]])
    assert masked.any_legal(1, legal).tolist() == [[1, 0]]
    assert masked.draw(np.array([[0.1, 0.9]]), legal).tolist() == [[1, 0]]


def test_a_spec_takes_spaces_or_the_short_form() -> None:
    short = GameSpec(id="short", seats=1, actions=2, observation_shape=(3,), max_steps=1)
    assert short.action == spaces.Discrete(2) and short.observation_shape == (3,)
    with pytest.raises(BadGame, match="needs either action or actions"):
        GameSpec(id="odd", seats=1, observation_shape=(3,), max_steps=1)
    with pytest.raises(BadGame, match="observation Graph"):
        GameSpec(id="odd", seats=1, actions=2, observation=spaces.Graph(spaces.Discrete(2), None), max_steps=1)
    with pytest.raises(BadGame, match="int64; allowed: Box of floats, or MultiDiscrete"):
        GameSpec(id="odd", seats=1, action=spaces.Box(0, 3, (2,), np.int64), observation_shape=(1,), max_steps=1)
