"""EnvPool's environments at our tables, where EnvPool is installed; elsewhere they are refused with what to install."""

import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from workers.bots.names import make_bot
from workers.bots.protocol import bot_input
from workers.games.adapters.envpool import EnvPoolGame
from workers.games.errors import BadGame
from workers.games.replay import replay


def test_without_envpool_the_game_is_refused_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> ModuleType:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(BadGame, match=r'needs EnvPool, which is not installed.*pip install "lanista\[envpool\]"'):
        EnvPoolGame(tables=1, env="CartPole-v1")


class TestInstalled:
    @pytest.fixture(autouse=True)
    def _envpool(self) -> Iterator[None]:
        pytest.importorskip("envpool")
        yield

    def play(self, game: EnvPoolGame, steps: int) -> list[Any]:
        """What each table shows and earns under random play."""
        game.reset(np.arange(game.tables, dtype=np.uint64))
        bot = make_bot("random", game.spec)
        shown = []
        for _ in range(steps):
            turn = game.turn()
            result = game.step(bot.act(bot_input(game, turn)))
            shown.append([turn.observations.copy(), result.rewards.copy(), result.done.copy()])
        return [np.stack(part, axis=1) for part in zip(*shown, strict=True)]

    def test_rollouts_are_exact_whatever_the_number_of_tables(self) -> None:
        game = EnvPoolGame(tables=3, env="CartPole-v1", max_steps=40)
        assert (game.spec.scoring, game.spec.max_steps, game.spec.actions) == ("returns", 40, 2)
        first, again = self.play(game, 120), self.play(game, 120)
        alone = self.play(EnvPoolGame(tables=1, env="CartPole-v1", max_steps=40), 120)
        for one, two, single in zip(first, again, alone, strict=True):
            assert (one == two).all()
            assert (one[:1] == single).all()
        assert first[2].sum() > 6

    def test_games_of_matches_replay_from_their_seed_and_moves(self) -> None:
        def make(tables: int) -> EnvPoolGame:
            return EnvPoolGame(tables=tables, env="Pendulum-v1")

        game = make(2)
        game.auto_reset = False
        game.reset(np.array([5, 6], np.uint64))
        bot, returns, done = make_bot("random", game.spec), np.zeros(2), False
        while not done:
            result = game.step(bot.act(bot_input(game, game.turn())))
            returns += result.rewards[:, 0]
            done = bool(result.done[1])
        assert result.truncated.all() and len(game.history(1)) == 200
        *_, last = replay(make, 6, game.history(1))
        assert last.done and last.returns == pytest.approx((returns[1],))

    def test_atari_frames_stay_bytes(self) -> None:
        game = EnvPoolGame(tables=2, env="Pong-v5")
        game.reset(np.arange(2, dtype=np.uint64))
        seen = game.turn().observations
        assert seen.shape == (2, 4, 84, 84) and seen.dtype == np.uint8
        assert game.spec.actions == 6

    def test_floats_of_mujoco_are_single_precision(self) -> None:
        game = EnvPoolGame(tables=2, env="HalfCheetah-v4")
        game.reset(np.arange(2, dtype=np.uint64))
        assert game.turn().observations.dtype == np.float32
        assert game.step(np.zeros((2, 6), np.float32)).rewards.shape == (2, 1)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"env": "Pong-v5", "options": {"batch_size": 1}}, "options batch_size are set by the adapter"),
            ({"env": "Pung-v5"}, "EnvPool has no task 'Pung-v5'"),
            ({"env": "CartPole-v1", "options": {"no_such_option": 1}}, "EnvPool cannot make 'CartPole-v1' with"),
        ],
    )
    def test_what_envpool_cannot_make_is_refused(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(BadGame, match=message):
            EnvPoolGame(tables=1, **options)
