"""Games that a step limit cuts off show their final observations, whatever steps their tables."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from workers.games.adapters import gymnasium as gymnasium_game
from workers.games.adapters.envpool import EnvPoolGame
from workers.games.adapters.gymnasium import GymnasiumGame
from workers.games.adapters.pettingzoo import AecGame, ParallelGame
from workers.games.protocol import VectorGame

HERE = "tests.unit.games.environments"


def seeds(*values: int) -> np.ndarray:
    return np.array(values, np.uint64)


@pytest.mark.parametrize("options", [{"options": {"limit": 2}}, {"max_steps": 2}], ids=["environment", "limit"])
@pytest.mark.parametrize("workers", [0, 1])
def test_a_parallel_game_cut_off_shows_what_the_agents_still_in_it_saw_last(options: dict, workers: int) -> None:
    game = ParallelGame(tables=2, env=f"{HERE}:Survivors", workers=workers, **options)
    game.reset(seeds(0, 1))
    game.turn()
    assert game.step(np.array([0, 1, 0, 0, 0, 0])).final is None
    game.turn()
    result = game.step(np.zeros(5, np.int64))
    assert result.truncated.all() and result.final is not None
    assert result.final.tables.tolist() == [0, 0, 1, 1, 1] and result.final.seats.tolist() == [0, 2, 0, 1, 2]
    assert result.final.observations.tolist() == [[2.0, ord(agent)] for agent in "acabc"]
    assert result.final.legal.tolist()[:2] == [[True, True, False], [True, True, True]]
    assert game.turn().observations[:, 0].tolist() == [0.0] * 6, "the next games have begun"


def same_step(env: str, options: dict[str, Any], tables: int) -> Any:
    """A vector environment whose steps begin the next game at once."""
    each = [lambda: gymnasium.make(env, **options)] * tables
    return gymnasium.vector.SyncVectorEnv(each, autoreset_mode=AutoresetMode.SAME_STEP)


@pytest.mark.parametrize(
    "kind", ["plain", "max_steps", "workers", "vector", "same step", "envpool", "envpool max_steps"]
)
def test_a_game_cut_off_shows_its_final_observation(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cart is where it was, moved by its speed; a new game starts near the middle and almost at rest."""
    limit: dict[str, Any] = {"max_steps": 5} if "max_steps" in kind else {"options": {"max_episode_steps": 5}}
    if kind == "same step":
        monkeypatch.setattr(gymnasium_game, "make_vector", same_step)
    if "envpool" in kind:
        pytest.importorskip("envpool")
        game: VectorGame = EnvPoolGame(tables=3, env="CartPole-v1", **limit)
    else:
        more = {"workers": {"workers": 2}, "vector": {"vector": True}, "same step": {"vector": True}}.get(kind, {})
        game = GymnasiumGame(tables=3, env="CartPole-v1", **limit, **more)
    game.reset(seeds(0, 1, 2))
    for _ in range(2):
        for step in range(5):
            before = game.turn().observations.copy()
            if len(before) < 3:  # a vector environment begins the next games with a step of their own
                game.step(np.zeros(len(before), np.int64))
                before = game.turn().observations.copy()
            result = game.step(np.ones(3, np.int64))
            assert (result.final is not None) == (step == 4)
        assert result.final is not None and result.final.tables.tolist() == [0, 1, 2]
        np.testing.assert_allclose(result.final.observations[:, 0], before[:, 0] + 0.02 * before[:, 1], atol=1e-5)
        assert (result.final.observations[:, 1] > 0.5).all() and result.truncated.all()


def test_the_seat_to_move_sees_how_an_aec_game_was_cut_off() -> None:
    game = AecGame(tables=1, env=f"{HERE}:Countdown", options={"cut": True})
    game.reset(seeds(0))
    for _ in range(7):
        game.turn()
        result = game.step(np.array([0]))
    assert result.final is not None and result.final.seats.tolist() == [0]
    assert result.final.observations.argmax() == 3 and result.final.legal.tolist() == [[True, False]]
