"""Each built-in is OpenSpiel's game: 10,000 random games of both side by side.

The built-in deals the cards; OpenSpiel is handed the same ones and would refuse an impossible deal.
"""

from collections import Counter

import numpy as np
import pyspiel
import pytest

from workers.games.builtin.connect_four import ConnectFour
from workers.games.builtin.kuhn_poker import KuhnPoker
from workers.games.builtin.leduc_poker import LeducPoker
from workers.games.builtin.rock_paper_scissors import RockPaperScissors
from workers.games.builtin.tic_tac_toe import TicTacToe
from workers.games.protocol import VectorGame

GAMES = 10_000
TABLES = 500


class Twins:
    """A built-in game and, table by table, OpenSpiel's states of the same games."""

    def __init__(self, game: VectorGame) -> None:
        self.game = game
        self.twin = pyspiel.load_game(game.spec.openspiel)
        game.reset(np.arange(game.tables, dtype=np.uint64) + np.uint64(1000))
        self.states = [self.twin.new_initial_state() for _ in range(game.tables)]
        self.returns: list[tuple[float, ...]] = []
        self.deals: Counter[tuple[int, ...]] = Counter()

    def deal(self, table: int) -> None:
        state = self.states[table]
        while state.is_chance_node():
            state.apply_action(self.game.history(table)[len(state.history())])

    def compare_turn(self) -> None:
        turn = self.game.turn()
        for table, seat, legal in zip(turn.tables, turn.seats, turn.legal, strict=True):
            state = self.states[table]
            if state.is_chance_node():
                self.deal(table)
            assert state.is_simultaneous_node() or state.current_player() == seat
            assert state.legal_actions(seat) == np.flatnonzero(legal).tolist()

    def play(self, rng: np.random.Generator) -> None:
        legal = self.game.turn().legal
        actions = np.argmax(legal * rng.random(legal.shape), axis=1)
        seats = self.game.spec.seats
        if self.game.spec.simultaneous:
            for state, joint in zip(self.states, actions.reshape(-1, seats).tolist(), strict=True):
                state.apply_actions(joint)
        else:
            for state, action in zip(self.states, actions.tolist(), strict=True):
                state.apply_action(action)
        result = self.game.step(actions)
        for table, (state, done) in enumerate(zip(self.states, result.done, strict=True)):
            assert state.is_terminal() == done
            # Every built-in pays at the end, so a step's rewards are OpenSpiel's returns or nothing.
            assert state.returns() == result.rewards[table].tolist()
            if done:
                self.finish(table)

    def finish(self, table: int) -> None:
        state = self.states[table]
        self.returns.append(tuple(state.returns()))
        self.deals[tuple(pair.action for pair in state.full_history() if pair.player == -1)] += 1
        self.states[table] = self.twin.new_initial_state()


@pytest.mark.parametrize("make", [ConnectFour, TicTacToe, RockPaperScissors, KuhnPoker, LeducPoker])
def test_ten_thousand_games_side_by_side(make: type[VectorGame]) -> None:
    twins = Twins(make(tables=TABLES))
    rng = np.random.default_rng(7)
    while len(twins.returns) < GAMES:
        twins.compare_turn()
        twins.play(rng)
    spec, twin = twins.game.spec, twins.twin
    assert (spec.seats, spec.actions) == (twin.num_players(), twin.num_distinct_actions())
    assert spec.max_steps == twin.max_game_length()
    seen = {result[0] for result in twins.returns}
    assert max(seen) > 0 > min(seen), "the games must have been worth comparing"


@pytest.mark.parametrize(("make", "deals"), [(KuhnPoker, 6), (LeducPoker, 120)])
def test_deals_are_fair(make: type[VectorGame], deals: int) -> None:
    game = make(tables=120_000)
    game.reset(np.arange(120_000, dtype=np.uint64))
    # Leduc's public card lies open, and so in the history, after a round of calling.
    for _ in range(2 if make is LeducPoker else 0):
        game.step(np.ones(game.tables, np.int64))
    counts = Counter(tuple(game.history(table)) for table in range(0, game.tables, 4))
    expected = 30_000 / deals
    assert len(counts) == deals
    # Six standard deviations of a fair draw.
    assert all(abs(count - expected) < 6 * expected**0.5 for count in counts.values())
