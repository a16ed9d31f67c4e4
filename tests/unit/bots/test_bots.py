"""Bots play legally, as strongly as they claim, and the same again on the same seeds."""

import itertools

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.minimax import alpha_beta_search

from tests.unit.bots.matches import play_out
from workers.bots.fixed_strategies import RandomBot, draw
from workers.bots.minimax import MinimaxBot, value
from workers.bots.names import make_bot
from workers.bots.protocol import bot_input
from workers.games.adapters.openspiel import OpenSpielGame
from workers.games.builtin.connect_four import ConnectFour
from workers.games.builtin.kuhn_poker import KuhnPoker
from workers.games.builtin.leduc_poker import LeducPoker
from workers.games.builtin.rock_paper_scissors import RockPaperScissors
from workers.games.builtin.tic_tac_toe import TicTacToe
from workers.games.seeding import mix


def score(returns: np.ndarray, seat: int) -> float:
    """Wins plus half the draws of a seat, as a share of the games."""
    return float(((returns[:, seat] > 0) + 0.5 * (returns[:, seat] == 0)).mean())


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (ConnectFour, ("random", "first-legal")),
        (TicTacToe, ("minimax-random", "minimax-0.3")),
        (ConnectFour, ("mcts-10", "random")),
        (LeducPoker, ("random", "mixed-0.2-0.5-0.3")),
        (RockPaperScissors, ("random", "mixed-0.5-0.25-0.25")),
    ],
)
def test_a_match_is_a_function_of_its_seeds(make: type, names: tuple[str, str]) -> None:
    together = play_out(make(tables=40), names, first_seed=7)
    assert play_out(make(tables=40), names, first_seed=7).tolist() == together.tolist()
    alone = [play_out(make(tables=1), names, first_seed=7 + table)[0].tolist() for table in range(10)]
    assert alone == together[:10].tolist()
    assert len({tuple(row) for row in together.tolist()}) > 1


def test_salt_gives_other_draws_on_the_same_seeds() -> None:
    game = ConnectFour(tables=500)
    game.reset(np.arange(500, dtype=np.uint64))
    bot = RandomBot(game.spec)
    turn = game.turn()
    plain, salted = (bot.act(bot_input(game, turn, salt=salt)) for salt in (0, 1))
    assert 0.05 < (plain == salted).mean() < 0.25


def test_random_is_uniform_over_the_legal_moves() -> None:
    legal = np.tile([True, False, True, True], (30_000, 1))
    counts = np.bincount(draw(legal.astype(float), mix(np.arange(30_000))), minlength=4)
    assert counts[1] == 0
    assert abs(counts[[0, 2, 3]] - 10_000).max() < 500


def test_first_legal_takes_the_lowest_number() -> None:
    game = ConnectFour(tables=1)
    game.reset(np.zeros(1, np.uint64))
    bot = make_bot("first-legal", game.spec)
    for _ in range(8):
        game.step(bot.act(bot_input(game, game.turn())))
    assert game.history(0) == [0, 0, 0, 0, 0, 0, 1, 1]


def test_minimax_knows_the_value_of_every_position() -> None:
    game = pyspiel.load_game("tic_tac_toe")
    rng = np.random.default_rng(3)
    for _ in range(60):
        state, boards = game.new_initial_state(), [0, 0]
        for _ in range(int(rng.integers(2, 8))):
            if not state.is_terminal():
                cell = int(rng.choice(state.legal_actions()))
                boards[state.current_player()] |= 1 << cell
                state.apply_action(cell)
        if not state.is_terminal():
            seat = state.current_player()
            expected, _ = alpha_beta_search(game, state=state, maximizing_player_id=seat)
            assert value(boards[seat], boards[1 - seat]) == expected


@pytest.mark.parametrize("name", ["minimax", "minimax-random"])
def test_minimax_never_loses(name: str) -> None:
    first = play_out(TicTacToe(tables=2000), (name, "random"))
    second = play_out(TicTacToe(tables=2000), ("random", name))
    assert first[:, 0].min() >= 0
    assert second[:, 1].min() >= 0
    assert first[:, 0].mean() > 0.9
    assert second[:, 1].mean() > 0.6
    assert not play_out(TicTacToe(tables=50), ("minimax", name)).any()


def test_minimax_repeats_itself_and_the_random_one_does_not() -> None:
    game = TicTacToe(tables=200)
    game.reset(np.arange(200, dtype=np.uint64))
    turn = game.turn()
    assert set(make_bot("minimax", game.spec).act(bot_input(game, turn)).tolist()) == {0}
    assert set(make_bot("minimax-random", game.spec).act(bot_input(game, turn)).tolist()) == set(range(9))


def test_minimax_reads_openspiels_tic_tac_toe_too() -> None:
    game = OpenSpielGame(tables=200, game="tic_tac_toe")
    assert play_out(game, ("minimax", "random"))[:, 0].min() >= 0
    assert play_out(game, ("random", "minimax"))[:, 1].min() >= 0


def test_skill_grades_strength() -> None:
    scores = [score(play_out(TicTacToe(tables=3000), ("random", f"minimax-{p}")), 1) for p in (0, 0.3, 0.6, 1)]
    assert all(higher - lower > 0.05 for lower, higher in itertools.pairwise(scores))
    assert scores[0] < 0.5


def test_skill_is_the_probability_of_a_best_move() -> None:
    # Only the corner at 2 stops the line 0-1-2; six cells are free.
    game = TicTacToe(tables=6000)
    game.reset(np.arange(6000, dtype=np.uint64))
    for cell in (0, 4, 1):
        game.step(np.full(6000, cell))
    bot = MinimaxBot(game.spec, ties="random", skill=0.4)
    blocked = (bot.act(bot_input(game, game.turn())) == 2).mean()
    assert blocked == pytest.approx(0.4 + 0.6 / 6, abs=0.03)


@pytest.mark.parametrize("make", [ConnectFour, lambda tables: OpenSpielGame(tables=tables, game="connect_four")])
def test_mcts_beats_random_from_either_seat(make: type) -> None:
    assert score(play_out(make(tables=20), ("mcts-50", "random")), 0) > 0.8
    assert score(play_out(make(tables=20), ("random", "mcts-50")), 1) > 0.8


def test_more_simulations_play_better() -> None:
    assert score(play_out(ConnectFour(tables=30), ("mcts-10", "mcts-300")), 1) > 0.7


def test_mixed_strategies_keep_their_probabilities() -> None:
    game = RockPaperScissors(tables=20_000)
    game.reset(np.arange(20_000, dtype=np.uint64))
    bot = make_bot("mixed-0.5-0.2-0.3", game.spec)
    counts = np.bincount(bot.act(bot_input(game, game.turn())), minlength=3) / 40_000
    assert counts == pytest.approx([0.5, 0.2, 0.3], abs=0.015)


def test_mixed_strategies_leave_out_what_is_illegal() -> None:
    # Nothing to call for yet, so folding is illegal: its share goes to the others.
    game = LeducPoker(tables=8000)
    game.reset(np.arange(8000, dtype=np.uint64))
    actions = make_bot("mixed-0.5-0.1-0.4", game.spec).act(bot_input(game, game.turn()))
    assert np.bincount(actions, minlength=3) / 8000 == pytest.approx([0, 0.2, 0.8], abs=0.03)
    assert set(make_bot("always-fold", game.spec).act(bot_input(game, game.turn())).tolist()) == {1, 2}


def test_always_plays_one_action_by_name_or_number() -> None:
    assert play_out(RockPaperScissors(tables=3), ("always-rock", "always-scissors")).tolist() == [[1, -1]] * 3
    assert play_out(RockPaperScissors(tables=3), ("always-1", "always-0")).tolist() == [[1, -1]] * 3
    assert not play_out(KuhnPoker(tables=100), ("always-pass", "always-bet"))[:, 0].max() > -1
