"""Positions for people: text to read and SVG that any browser draws."""

from xml.etree import ElementTree

import numpy as np
import pytest

from tests.unit.games.conftest import Make
from workers.games.builtin.connect_four import ConnectFour
from workers.games.builtin.kuhn_poker import KuhnPoker
from workers.games.builtin.rock_paper_scissors import RockPaperScissors
from workers.games.builtin.tic_tac_toe import TicTacToe
from workers.games.protocol import VectorGame
from workers.games.svg import SEAT_COLOURS, text_svg

SVG = "{http://www.w3.org/2000/svg}"


def after(game: VectorGame, *moves: int) -> VectorGame:
    game.auto_reset = False
    game.reset(np.zeros(1, np.uint64))
    rows = game.spec.seats if game.spec.simultaneous else 1
    for at in range(0, len(moves), rows):
        game.step(np.array(moves[at : at + rows]))
    return game


def test_connect_four() -> None:
    game = after(ConnectFour(tables=1), 3, 3, 4, 0)
    assert game.render_text(0).splitlines() == [
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . .",
        ". . . . . . .",
        ". . . o . . .",
        "o . . x x . .",
        "0 1 2 3 4 5 6",
    ]
    discs = ElementTree.fromstring(game.render_svg(0)).findall(f"{SVG}circle")
    fills = [disc.get("fill") for disc in discs]
    assert len(fills) == 42
    assert [fills.count(colour) for colour in SEAT_COLOURS] == [2, 2]
    lowest = [disc.get("fill") for disc in discs if disc.get("cy") == "220"]
    assert lowest[3] == lowest[4] == SEAT_COLOURS[0]
    assert lowest[0] == SEAT_COLOURS[1]


@pytest.mark.parametrize("make", [ConnectFour, TicTacToe])
def test_a_board_marks_an_area_for_every_action_on_its_picture(make: type[VectorGame]) -> None:
    game = after(make(tables=1))  # type: ignore[call-arg]
    picture = ElementTree.fromstring(game.render_svg(0))
    areas = [rect.attrib for rect in picture.findall(f"{SVG}rect") if "data-action" in rect.attrib]
    assert [int(area["data-action"]) for area in areas] == list(range(game.spec.actions))
    assert [area["data-label"] for area in areas] == [str(action + 1) for action in range(game.spec.actions)]
    _, _, width, height = map(float, picture.attrib["viewBox"].split())
    covered = sum(float(area["width"]) * float(area["height"]) for area in areas)
    assert covered == width * height, "they cover the picture without overlapping"


@pytest.mark.parametrize(
    ("make", "moves", "ends"),
    [
        (ConnectFour, (3, 2, 3, 2, 3, 2, 3), {(140, 220), (140, 100)}),
        (ConnectFour, (0, 1, 2, 1, 4, 1, 3, 5, 1), {(20, 220), (140, 220)}),
        (TicTacToe, (2, 0, 4, 1, 6), {(100, 20), (20, 100)}),
    ],
    ids=["column", "not yet a row", "diagonal"],
)
def test_the_line_that_won_is_drawn(
    make: type[VectorGame], moves: tuple[int, ...], ends: set[tuple[float, float]]
) -> None:
    game = after(make(tables=1), *moves)  # type: ignore[call-arg]
    lines = ElementTree.fromstring(game.render_svg(0)).findall(f"{SVG}g[@class='winning-line']/{SVG}line")
    drawn = {(float(line.attrib[f"x{end}"]), float(line.attrib[f"y{end}"])) for line in lines for end in "12"}
    won = game.plies[0] in (5, 7)
    assert drawn == (ends if won else set())


def test_a_poker_table_hides_the_other_card_and_shows_what_was_paid() -> None:
    game = after(KuhnPoker(tables=1), 0, 1)
    open_, mine = (ElementTree.fromstring(game.render_svg(0, seat)) for seat in (None, 0))
    words = [[text.text for text in picture.findall(f"{SVG}text")] for picture in (open_, mine)]
    assert sum(word in ("J", "Q", "K") for word in words[0]) == 4, "rank and corner of both cards"
    assert sum(word in ("J", "Q", "K") for word in words[1]) == 2
    assert "seat 0 (you)" in words[1] and "pot 3" in words[1] and "betting: pass bet" in words[1]


def test_the_winner_of_rock_paper_scissors_is_named_on_the_picture() -> None:
    words = [
        text.text
        for text in ElementTree.fromstring(after(RockPaperScissors(tables=1), 0, 1).render_svg(0)).iter(f"{SVG}text")
    ]
    assert "paper wins" in words and "rock" in words


def test_the_last_position_of_a_won_game_can_be_drawn() -> None:
    game = after(TicTacToe(tables=1), 0, 3, 1, 4, 2)
    assert game.render_text(0) == "x x x\no o .\n. . ."
    labels = [label.text for label in ElementTree.fromstring(game.render_svg(0)).findall(f"{SVG}text")]
    assert labels == ["X", "X", "X", "O", "O"]


def test_rock_paper_scissors() -> None:
    assert after(RockPaperScissors(tables=1)).render_text(0) == "seat 0: not yet\nseat 1: not yet"
    game = after(RockPaperScissors(tables=1), 1, 0)
    assert game.render_text(0) == "seat 0: paper\nseat 1: rock"
    assert ">paper wins<" in game.render_svg(0)


def test_kuhn_poker() -> None:
    game = after(KuhnPoker(tables=1), 0, 1)
    first, second, betting = game.render_text(0).splitlines()
    assert first.endswith("paid 1")
    assert second.endswith("paid 2")
    assert betting == "betting: pass bet"


def test_every_game_draws_well_formed_pictures(make: Make) -> None:
    game = make(2)
    game.reset(np.arange(2, dtype=np.uint64))
    for _ in range(4):
        for seat in (None, *range(game.spec.seats)):
            assert game.render_text(1, seat)
            picture = ElementTree.fromstring(game.render_svg(1, seat))
            assert picture.tag == f"{SVG}svg"
            assert len(list(picture)) > 1
        game.step(np.argmax(game.turn().legal, axis=1))


@pytest.mark.parametrize("text", ["<b> & 'c'", "\x1b[31mred\x00", "", "two\nlines"])
def test_any_text_becomes_well_formed_svg(text: str) -> None:
    picture = ElementTree.fromstring(text_svg(text, title=text.replace("\x1b", "").replace("\x00", "")))
    drawn = "\n".join(row.text or "" for row in picture.findall(f"{SVG}text"))
    assert drawn == "".join(c for c in text if c.isprintable() or c == "\n")
