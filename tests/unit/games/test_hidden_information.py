"""A mover sees all it may know and nothing more: exactly OpenSpiel's information states, no cards of others."""

from collections import defaultdict

import numpy as np
import pyspiel
import pytest

from workers.games.adapters.openspiel import OpenSpielGame
from workers.games.builtin.kuhn_poker import KuhnPoker
from workers.games.builtin.leduc_poker import LeducPoker
from workers.games.exploitability import Placeable
from workers.games.protocol import VectorGame


def decision_states(name: str) -> list[pyspiel.State]:
    """Every state of the whole game in which a seat is to move."""
    found, waiting = [], [pyspiel.load_game(name).new_initial_state()]
    while waiting:
        state = waiting.pop()
        if not state.is_terminal():
            if not state.is_chance_node():
                found.append(state)
            waiting += [state.child(action) for action in state.legal_actions()]
    return found


@pytest.mark.parametrize(("make", "states", "distinct"), [(KuhnPoker, 12, 12), (LeducPoker, 936, 288)])
def test_observations_are_information_states(make: type[VectorGame], states: int, distinct: int) -> None:
    everywhere = decision_states(make(tables=1).spec.openspiel)
    game = make(tables=len(everywhere))
    assert isinstance(game, Placeable)
    for table, state in enumerate(everywhere):
        game.place(table, state.history())
    turn = game.turn()
    seen_in: dict[str, set[bytes]] = defaultdict(set)
    for table, state in enumerate(everywhere):
        assert game.history(table) == state.history()
        assert turn.seats[table] == state.current_player()
        assert np.flatnonzero(turn.legal[table]).tolist() == state.legal_actions()
        seen_in[state.information_state_string()].add(turn.observations[table].tobytes())
    assert len(seen_in) == states
    # One observation for all that a seat cannot tell apart, whatever the other one holds ...
    assert all(len(seen) == 1 for seen in seen_in.values())
    # ... and a different one for all it can; in Leduc two suits of a rank are the same to everybody.
    assert len(set.union(*seen_in.values())) == distinct


@pytest.mark.parametrize("make", [KuhnPoker, LeducPoker])
def test_pictures_for_a_seat_hide_the_other_hand(make: type[VectorGame]) -> None:
    # Cards J and K by rank, the first seat to move.
    game = make(tables=1)
    game.reset(np.zeros(1, np.uint64))
    assert isinstance(game, Placeable)
    game.place(0, [0, 2] if make is KuhnPoker else [0, 4])
    open_text, low, high = game.render_text(0), game.render_text(0, 0), game.render_text(0, 1)
    assert "seat 0: J" in open_text
    assert "seat 1: K" in open_text
    assert "seat 0: J" in low
    assert "seat 1: ?" in low
    assert "seat 0: ?" in high
    assert "seat 1: K" in high
    assert "K" not in game.render_svg(0, 0)
    assert "J" not in game.render_svg(0, 1)


def test_a_fold_keeps_hands_hidden_and_a_showdown_opens_them() -> None:
    game = KuhnPoker(tables=1)
    game.auto_reset = False
    for moves, shown in (((1, 0), "seat 1: ?"), ((1, 1), "seat 1: K")):
        game.reset(np.zeros(1, np.uint64))
        game.place(0, [0, 2])
        for move in moves:
            game.step(np.array([move]))
        assert shown in game.render_text(0, 0)


def test_leducs_public_card_shows_only_in_the_second_round() -> None:
    game = LeducPoker(tables=2)
    game.reset(np.zeros(2, np.uint64))
    game.place(0, [0, 2, 1])
    game.place(1, [0, 2, 1, 1, 4])
    assert "public: -" in game.render_text(0)
    assert "public: K" in game.render_text(1)
    public = game.turn().observations[:, 5:8]
    assert public.tolist() == [[0, 0, 0], [0, 0, 1]]


def test_openspiels_movers_see_their_information_state_only() -> None:
    game = OpenSpielGame(tables=1, game="leduc_poker")
    game.reset(np.array([4], np.uint64))
    state = pyspiel.load_game("leduc_poker").new_initial_state()
    for action in game.history(0):
        state.apply_action(action)
    assert game.turn().observations[0].tolist() == state.information_state_tensor(0)
    text = game.render_text(0, 0)
    assert text == state.information_state_string(0)
    assert text != game.render_text(0)
