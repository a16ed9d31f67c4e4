"""Games by name: the catalog's, and the one of the user's own in examples/."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from orchestrator.catalog import Kind, UnknownName, WrongTarget, names
from tests.unit.games.conftest import play
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.games.protocol import VectorGame
from workers.games.replay import replay

EXAMPLES = Path(__file__).parents[3] / "examples"
OPTIONS = {
    "openspiel": {"game": "tic_tac_toe"},
    "pettingzoo_aec": {"env": "classic/tictactoe_v3"},
    "pettingzoo_parallel": {"env": "classic/rps_v2"},
    "gymnasium": {"env": "CartPole-v1"},
    "envpool": {"env": "CartPole-v1"},
}


def test_every_game_of_the_catalog_can_be_made_and_played() -> None:
    for name, entry in names(Kind.GAME).items():
        if entry.source == "built-in" and name != "remote" and (name != "envpool" or find_spec("envpool")):
            game = make_game(name, 2, **OPTIONS.get(name, {}))
            assert game.tables == 2
            assert play(game, [1, 2], games=1)[0][0].actions


def test_names_and_options_are_checked() -> None:
    with pytest.raises(UnknownName, match="connect_four"):
        make_game("connect_fuor", 1)
    with pytest.raises(BadGame, match=r"'width'; options: none"):
        make_game("connect_four", 1, width=8)
    with pytest.raises(BadGame, match=r"'game'; options: game \(required\), sight"):
        make_game("openspiel", 1)
    with pytest.raises(WrongTarget, match=r"is the class argparse.Namespace; allowed: a subclass of VectorGame"):
        make_game("argparse:Namespace", 1)
    with pytest.raises(WrongTarget, match="is a str; allowed: a subclass of VectorGame"):
        make_game("string:digits", 1)


@pytest.fixture
def nim(monkeypatch: pytest.MonkeyPatch) -> VectorGame:
    monkeypatch.syspath_prepend(EXAMPLES)
    return make_game("own_game:Nim", 50, most=12)


def test_a_game_of_ones_own_is_one_short_file() -> None:
    assert len((EXAMPLES / "own_game.py").read_text().splitlines()) < 60


def test_a_game_of_ones_own_plays_replays_and_ends_as_theory_says(nim: VectorGame) -> None:
    def best(stones: int) -> int:
        return (stones % 4 or 1) - 1

    nim.reset(np.arange(50, dtype=np.uint64))
    first = nim.turn().observations.argmax(axis=1)
    assert len(set(first.tolist())) == 6 and nim.spec.chance, "seeds differ, and the game says so"
    over, winner = np.zeros(50, bool), np.full(50, -1)
    while not over.all():
        stones = nim.turn().observations.argmax(axis=1)
        result = nim.step(np.array([best(heap) for heap in stones]))
        fresh = result.done & ~over
        winner[fresh] = result.rewards[fresh].argmax(axis=1)
        over |= result.done
    # A multiple of four is lost for whoever must move.
    assert winner.tolist() == [int(heap % 4 == 0) for heap in first]


def test_a_game_of_ones_own_has_records_and_pictures(nim: VectorGame) -> None:
    game = play(nim, list(range(50)), games=1)[3][0]
    positions = list(replay(lambda tables: make_game("own_game:Nim", tables, most=12), game.seed, game.actions))
    assert positions[-1].done
    assert "0 stones" in positions[-1].text
    assert positions[0].svg.startswith("<svg")
