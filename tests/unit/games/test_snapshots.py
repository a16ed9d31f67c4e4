"""Copies of tables: every game that can copy continues a restored position exactly; others refuse by name."""

from __future__ import annotations

import numpy as np
import pytest

from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.games.protocol import Turn, VectorGame
from workers.rollout.openings import random_legal

COPYING = [
    ("connect_four", {}),
    ("tic_tac_toe", {}),
    ("rock_paper_scissors", {}),
    ("kuhn_poker", {}),
    ("leduc_poker", {}),
    ("two_step", {}),
    ("signals", {}),
    ("soccer", {}),
    ("slime_volley", {}),
    ("openspiel", {"game": "hex(board_size=3)"}),
    ("openspiel", {"game": "pig"}),
]
TABLES = 12


def actions(game: VectorGame, turn: Turn, rng: np.random.Generator) -> np.ndarray:
    legal = game.legal_of(turn)
    assert legal is not None
    return random_legal(legal, rng.random(len(legal), dtype=np.float32))


def play(game: VectorGame, steps: int, seed: int) -> list[np.ndarray]:
    """What happens in so many random steps: observations, seats, rewards and ends."""
    rng, seen = np.random.default_rng(seed), []
    for _ in range(steps):
        turn = game.turn()
        seen += [np.array(turn.observations), turn.seats.copy(), turn.tables.copy()]
        result = game.step(actions(game, turn, rng))
        seen += [result.rewards.copy(), result.done.copy()]
    return [*seen, *(np.array(game.history(table)) for table in range(game.tables))]


@pytest.mark.parametrize(("name", "options"), COPYING)
def test_a_restored_position_goes_on_exactly_as_it_did(name: str, options: dict[str, str]) -> None:
    game, everywhere = make_game(name, TABLES, **options), np.arange(TABLES)
    game.reset(np.arange(TABLES, dtype=np.uint64) + np.uint64(5))
    play(game, 3, seed=1)
    kept = game.snapshot(everywhere)
    first = play(game, 6, seed=2)
    game.restore(everywhere, kept)
    second = play(game, 6, seed=2)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(("name", "options"), COPYING)
def test_a_copied_table_continues_the_game_of_its_source(name: str, options: dict[str, str]) -> None:
    game, rng = make_game(name, TABLES, **options), np.random.default_rng(3)
    game.reset(np.arange(TABLES, dtype=np.uint64))
    play(game, 2, seed=4)
    game.copy(np.arange(6), np.arange(6, 12))
    for _ in range(4):
        turn = game.turn()
        chosen = actions(game, turn, rng)
        half = len(chosen) // 2
        chosen[half:] = chosen[:half]
        result = game.step(chosen)
        assert np.array_equal(result.rewards[:6], result.rewards[6:])
        assert np.array_equal(result.done[:6], result.done[6:])
    assert [game.history(table) for table in range(6)] == [game.history(table) for table in range(6, 12)]


def test_other_seeds_give_the_same_position_another_future() -> None:
    game = make_game("openspiel", 64, game="pig")
    game.reset(np.zeros(64, np.uint64))
    one = game.snapshot(np.zeros(64, np.int64))
    game.restore(np.arange(64), one, seeds=np.arange(64, dtype=np.uint64))
    shown = np.array(game.turn().observations)
    assert (shown == shown[0]).all()
    game.step(np.zeros(64, np.int64))  # all roll the die
    assert len({tuple(game.history(table)) for table in range(64)}) > 3


def test_a_snapshot_is_not_changed_by_the_game_that_goes_on() -> None:
    game = make_game("openspiel", 1, game="tic_tac_toe")
    game.reset(np.zeros(1, np.uint64))
    kept = game.snapshot(np.zeros(1, np.int64))
    game.step(np.array([4]))
    game.restore(np.zeros(1, np.int64), kept)
    game.step(np.array([0]))
    game.restore(np.zeros(1, np.int64), kept)
    assert game.history(0) == []


@pytest.mark.parametrize(
    ("name", "options"),
    [("openspiel", {"game": "kuhn_poker"}), ("gymnasium", {"env": "CartPole-v1"})],
)
def test_games_that_cannot_copy_say_so_by_name(name: str, options: dict[str, str]) -> None:
    game = make_game(name, 2, **options)
    game.reset(np.zeros(2, np.uint64))
    with pytest.raises(BadGame, match=r"cannot be copied.*allowed"):
        game.snapshot(np.arange(2))


def test_a_game_that_keeps_its_history_refuses_a_snapshot_without_one() -> None:
    game = make_game("connect_four", 2)
    game.keeps_history = False
    game.reset(np.zeros(2, np.uint64))
    game.step(np.zeros(2, np.int64))
    kept, other = game.snapshot(np.arange(2)), make_game("connect_four", 2)
    with pytest.raises(BadGame, match="no history"):
        other.restore(np.arange(2), kept)


@pytest.mark.parametrize("name", ["connect_four", "tic_tac_toe"])
def test_an_observation_shows_the_position(name: str) -> None:
    game, shown = make_game(name, TABLES), make_game(name, TABLES)
    game.reset(np.arange(TABLES, dtype=np.uint64))
    shown.reset(np.zeros(TABLES, np.uint64))
    rng = np.random.default_rng(1)
    for _ in range(20):
        turn = game.turn()
        assert not isinstance(turn.observations, dict)
        shown.place_observations(turn.observations)
        kept, found = game.snapshot(np.arange(TABLES)), shown.snapshot(np.arange(TABLES))
        assert all(np.array_equal(found[key], kept[key]) for key in ("_stones", "_mover", "ply"))
        game.step(actions(game, turn, rng))
    with pytest.raises(BadGame, match="shows no position"):
        shown.place_observations(np.ones((TABLES, *game.spec.observation_shape), np.float32))


def test_a_game_whose_positions_cannot_be_read_says_so() -> None:
    game = make_game("openspiel", 1, game="hex(board_size=3)")
    assert not game.reads_observations
    with pytest.raises(BadGame, match="cannot be read from observations"):
        game.place_observations(np.zeros((1, *game.spec.observation_shape), np.float32))
