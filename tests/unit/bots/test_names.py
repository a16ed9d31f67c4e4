"""Bots by name: what is written wrongly is refused with what is allowed."""

from argparse import Namespace

import pytest

from workers.bots.fixed_strategies import FirstLegalBot, MixedBot, RandomBot
from workers.bots.mcts import MctsBot
from workers.bots.minimax import MinimaxBot
from workers.bots.names import make_bot
from workers.bots.protocol import BadBot
from workers.games.builtin.connect_four import ConnectFour
from workers.games.builtin.kuhn_poker import KuhnPoker
from workers.games.builtin.rock_paper_scissors import RockPaperScissors
from workers.games.builtin.tic_tac_toe import TicTacToe

TIC_TAC_TOE, CONNECT_FOUR = TicTacToe(tables=1).spec, ConnectFour(tables=1).spec
KUHN, RPS = KuhnPoker(tables=1).spec, RockPaperScissors(tables=1).spec


def test_names_make_the_bots_they_say() -> None:
    assert isinstance(make_bot("random", RPS), RandomBot)
    assert isinstance(make_bot("first-legal", RPS), FirstLegalBot)
    mcts = make_bot("mcts-120", CONNECT_FOUR)
    assert isinstance(mcts, MctsBot)
    assert mcts.simulations == 120
    exact, tied, weak = (make_bot(name, TIC_TAC_TOE) for name in ("minimax", "minimax-random", "minimax-0.3"))
    assert isinstance(exact, MinimaxBot)
    assert isinstance(tied, MinimaxBot)
    assert isinstance(weak, MinimaxBot)
    assert (exact.ties, exact.skill) == ("first", 1)
    assert (tied.ties, tied.skill) == ("random", 1)
    assert (weak.ties, weak.skill) == ("random", 0.3)
    mixed = make_bot("mixed-0.5-0.25-0.25", RPS)
    assert isinstance(mixed, MixedBot)
    assert mixed.probabilities.tolist() == [0.5, 0.25, 0.25]


def test_a_bot_of_ones_own_goes_by_its_import_path() -> None:
    assert isinstance(make_bot("workers.bots.fixed_strategies:RandomBot", RPS), RandomBot)
    with pytest.raises(BadBot, match="is a function that returns Namespace; allowed: a subclass of Bot"):
        make_bot("tests.unit.bots.test_names:not_a_bot", RPS)


def not_a_bot(spec: object) -> Namespace:
    return Namespace(spec=spec)


@pytest.mark.parametrize("name", ["rnadom", "mcts", "mcts-", "mcts-many", "minimax-", "", "random-3"])
def test_unknown_names_are_refused_with_the_allowed_ones(name: str) -> None:
    with pytest.raises(BadBot) as caught:
        make_bot(name, CONNECT_FOUR)
    assert repr(name) in str(caught.value)
    for allowed in ("random", "first-legal", "minimax-random", "mcts-<simulations", "mixed-<", "always-<"):
        assert allowed in str(caught.value)


@pytest.mark.parametrize(
    ("name", "spec", "message"),
    [
        ("minimax", CONNECT_FOUR, "minimax plays tic_tac_toe only, not connect_four"),
        ("minimax-1.5", TIC_TAC_TOE, "between 0 and 1, not 1.5"),
        ("mcts-1", CONNECT_FOUR, "at least 2 simulations"),
        ("mcts-50", KUHN, "without hidden information, not kuhn_poker"),
        ("mcts-50", RPS, "turn-based games"),
        ("mixed-0.5-0.5", RPS, "2 probabilities; rock_paper_scissors has 3 actions"),
        ("mixed-0.5-0.5-0.5", RPS, "add up to 1"),
        ("always-lizard", RPS, "no action 'lizard'; allowed: rock, paper, scissors"),
        ("always-7", CONNECT_FOUR, "no action '7'; allowed: 0, 1"),
    ],
)
def test_bots_refuse_games_and_numbers_they_cannot_use(name: str, spec, message: str) -> None:
    with pytest.raises(BadBot, match=message):
        make_bot(name, spec)
