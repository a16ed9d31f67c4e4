"""Which games are small enough for NashConv after every evaluation, and the words for those that are not."""

from __future__ import annotations

from functools import partial

import pytest

from workers.games.enumeration import check_enumerable
from workers.games.errors import BadGame
from workers.games.names import make_game
from workers.games.protocol import VectorGame


def table(name: str, tables: int) -> VectorGame:
    return make_game(name, tables)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "rock_paper_scissors"])
def test_small_games_can_be_enumerated(name: str) -> None:
    check_enumerable(partial(table, name))


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four"])
def test_a_large_game_is_refused_with_its_size(name: str) -> None:
    with pytest.raises(BadGame, match=f"{name} has more than 2,000 histories, too many"):
        check_enumerable(partial(table, name), most=2_000)


def test_a_game_that_is_played_line_by_line_is_counted_too() -> None:
    class Own(type(table("tic_tac_toe", 1))):  # type: ignore[misc]
        """The same game as a user's own, which OpenSpiel does not know."""

        def __init__(self, *, tables: int) -> None:
            super().__init__(tables=tables)
            object.__setattr__(self.spec, "openspiel", None)

    with pytest.raises(BadGame, match="more than 100 histories"):
        check_enumerable(lambda tables: Own(tables=tables), most=100)
