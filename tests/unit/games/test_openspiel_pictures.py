"""OpenSpiel states as pictures: boards, what a seat may see, and choices made at once."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from workers.games.adapters.openspiel_boards import board_of
from workers.games.names import make_game
from workers.games.protocol import VectorGame
from workers.games.svg import SEAT_COLOURS


def played(name: str, plies: int) -> VectorGame:
    """A game after some random moves."""
    game = make_game("openspiel", 1, game=name)
    game.auto_reset = False
    game.reset(np.array([5], np.uint64))
    rng, done = np.random.default_rng(3), False
    while plies and not done:
        legal = game.legal_of(game.turn())
        done = bool(game.step(np.array([rng.choice(np.flatnonzero(row)) for row in legal])).done[0])
        plies -= 1
    return game


def stones(picture: str) -> list[int]:
    """How many discs each seat has."""
    return [len(re.findall(rf'<circle [^>]*fill="{colour}"', picture)) for colour in SEAT_COLOURS]


@pytest.mark.parametrize(
    ("name", "cells", "areas"),
    [
        ("tic_tac_toe", 9, 9),
        ("hex(board_size=5)", 25, 25),
        ("othello", 64, 64),
        ("go(board_size=5)", 25, 25),
        ("havannah(board_size=4)", 37, 37),
        ("y(board_size=5)", 15, 15),
        ("breakthrough", 64, 0),
        ("clobber(rows=5,columns=6)", 30, 0),
        ("connect_four", 42, 7),
    ],
)
def test_a_board_is_drawn_with_its_stones_and_squares_to_click(name: str, cells: int, areas: int) -> None:
    board = board_of(name)
    assert board is not None and len(board.layout.places) == cells
    game = played(name, 6)
    picture = game.render_svg(0)
    ElementTree.fromstring(picture)
    text = game.render_text(0)
    symbols = board.layout.read(text)
    assert symbols is not None
    assert stones(picture) == [sum(board.owners.get(each) == seat for each in symbols) for seat in (0, 1)]
    assert picture.count("data-action=") == areas
    assert "<text" in picture or not board.layout.labels, "rows and columns keep their names"


def test_the_square_of_an_action_is_the_cell_that_it_fills() -> None:
    for name in ("hex(board_size=5)", "go(board_size=5)", "havannah(board_size=4)", "amazons"):
        board = board_of(name)
        assert board is not None
        game = make_game("openspiel", 1, game=name)
        game.auto_reset = False
        game.reset(np.array([1], np.uint64))
        rng = np.random.default_rng(8)
        for _ in range(12):
            before = board.layout.read(game.render_text(0)) or ""
            action = int(rng.choice([each for each in np.flatnonzero(game.turn().legal[0]) if each in board.cells]))
            game.step(np.array([action]))
            after = board.layout.read(game.render_text(0)) or ""
            new = [at for at, (old, now) in enumerate(zip(before, after, strict=True)) if old == board.empty != now]
            assert new in ([], [board.cells[action]]), name


def test_a_piece_that_moved_is_marked_where_it_was_and_is() -> None:
    assert played("breakthrough", 5).render_svg(0).count('stroke-width="2"') == 2
    assert played("breakthrough", 0).render_svg(0).count('stroke-width="2"') == 0


def test_chess_is_drawn_from_its_notation_and_hides_what_a_seat_does_not_see() -> None:
    start = played("chess", 0).render_svg(0)
    assert start.count("♟") == 16 and start.count("♚") == 2
    dark = played("dark_chess", 4)
    assert dark.render_svg(0).count("♚") == 2
    assert dark.render_svg(0, 0).count("♚") == 1, "the other king is out of sight"


def test_a_seat_sees_its_own_stones_or_cards_only() -> None:
    phantom = played("phantom_ttt", 4)
    assert sum(stones(phantom.render_svg(0))) > stones(phantom.render_svg(0, 0))[0]
    assert stones(phantom.render_svg(0, 1))[0] <= 1
    leduc = played("leduc_poker", 1)
    whole, own = leduc.render_svg(0), leduc.render_svg(0, 0)
    ElementTree.fromstring(whole)
    cards = [re.findall(">Private: (.)<", picture) for picture in (whole, own)]
    assert len(cards[0]) == 2 and cards[1] == cards[0][:1]
    assert "hidden" not in whole and "seat 1, to move: hidden" in own and "seat 0, you" in own


def test_choices_made_at_once_are_told_for_each_seat_unless_they_are_secret() -> None:
    soccer = played("markov_soccer", 2).render_svg(0)
    assert re.search("seat 0 chose (up|down|left|right|stand)", soccer) and "seat 1 chose" in soccer
    secret = played("goofspiel(imp_info=True,num_cards=4,points_order=descending)", 1)
    assert "seat 1 chose" in secret.render_svg(0)
    assert "chose" not in secret.render_svg(0, 0)


def test_a_text_without_a_board_stays_text() -> None:
    for name in ("dots_and_boxes", "backgammon", "mancala", "oware"):
        assert board_of(name) is None
        picture = played(name, 3).render_svg(0)
        ElementTree.fromstring(picture)
        assert "monospace" in picture
    twixt = played("twixt(board_size=6)", 1).render_svg(0)
    ElementTree.fromstring(twixt)
    assert "[91m" not in twixt, "colours of a terminal are left out"
