"""OpenSpiel's games at our tables: every state, mask, observation and reward is OpenSpiel's own."""

from collections import Counter

import numpy as np
import pyspiel
import pytest

from workers.games.adapters.openspiel import OpenSpielGame
from workers.games.errors import BadGame


@pytest.mark.parametrize(
    ("name", "sight"),
    [
        ("tic_tac_toe", "observation"),
        ("kuhn_poker(players=3)", "information_state"),
        ("kuhn_poker", "observation"),
        ("backgammon", "observation"),
        ("2048", "observation"),
        ("chess", "observation"),
        ("catch", "observation"),
        ("goofspiel(num_cards=4)", "information_state"),
        ("coop_box_pushing", "observation"),
    ],
)
def test_tables_follow_openspiels_states(name: str, sight: str) -> None:
    game = OpenSpielGame(tables=3, game=name, sight=sight)
    twin = pyspiel.load_game(name)
    game.reset(np.arange(3, dtype=np.uint64))
    rng = np.random.default_rng(2)
    returns = np.zeros((3, game.spec.seats))
    for _ in range(80):
        turn = game.turn()
        states = {table: at(twin, game.history(table)) for table in range(3)}
        for row, (table, seat) in enumerate(zip(turn.tables, turn.seats, strict=True)):
            state = states[table]
            assert state.is_simultaneous_node() or state.current_player() == seat
            assert np.flatnonzero(turn.legal[row]).tolist() == state.legal_actions(seat)
            shown = turn.observations[row].ravel().tolist()
            assert shown == pytest.approx(getattr(state, f"{sight}_tensor")(int(seat)))
            assert returns[table].tolist() == pytest.approx(state.returns())
        result = game.step(np.argmax(turn.legal * rng.random(turn.legal.shape), axis=1))
        returns += result.rewards
        returns[result.done] = 0


def at(twin: pyspiel.Game, history: list[int]) -> pyspiel.State:
    """The state after these actions, joint ones of simultaneous nodes taken together."""
    state = twin.new_initial_state()
    actions = iter(history)
    for action in actions:
        if state.is_simultaneous_node():
            others = [next(actions) for _ in range(twin.num_players() - 1)]
            state.apply_actions([action, *others])
        else:
            state.apply_action(action)
    return state


def test_final_returns_are_paid_in_full() -> None:
    game = OpenSpielGame(tables=1, game="catch")
    game.auto_reset = False
    game.reset(np.array([9], np.uint64))
    total = 0.0
    while True:
        result = game.step(np.argmax(game.turn().legal, axis=1))
        total += float(result.rewards[0, 0])
        if result.done[0]:
            break
    assert total == at(pyspiel.load_game("catch"), game.history(0)).returns()[0]


def test_chance_is_drawn_by_its_probabilities() -> None:
    # Backgammon opens with a roll of two dice, doubles excluded: 30 outcomes, each decided by the seed.
    game = OpenSpielGame(tables=3000, game="backgammon")
    game.reset(np.arange(3000, dtype=np.uint64))
    state = pyspiel.load_game("backgammon").new_initial_state()
    counts = Counter(game.history(table)[0] for table in range(3000))
    for outcome, probability in state.chance_outcomes():
        expected = 3000 * probability
        assert abs(counts[outcome] - expected) < 6 * expected**0.5


def test_one_seat_tallies_returns() -> None:
    assert OpenSpielGame(tables=1, game="catch").spec.scoring == "returns"
    assert OpenSpielGame(tables=1, game="tic_tac_toe").spec.scoring == "outcome"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"game": "no_such_game"}, "OpenSpiel has no game 'no_such_game'"),
        ({"game": "mfg_crowd_modelling"}, "mean-field"),
        ({"game": "bridge_uncontested_bidding"}, "draws its own random numbers"),
        ({"game": "connect_four", "sight": "information_state"}, "sight 'information_state' is not provided"),
        ({"game": "connect_four", "sight": "x-ray"}, "allowed: auto, \\['observation'\\]"),
    ],
)
def test_what_cannot_be_played_is_refused_at_once(options: dict[str, str], message: str) -> None:
    with pytest.raises(BadGame, match=message):
        OpenSpielGame(tables=1, **options)
