"""Payoffs: decayed and raw results of players against each other, with confidence intervals."""

from league.payoff.cells import Cell, decay_of_memory, decayed, effective_games, wilson
from league.payoff.pairwise import PairResult, pairwise_by_order
from league.payoff.returns import Returns
from league.payoff.table import Payoff, PayoffEntry, PayoffView

__all__ = [
    "Cell",
    "PairResult",
    "Payoff",
    "PayoffEntry",
    "PayoffView",
    "Returns",
    "decay_of_memory",
    "decayed",
    "effective_games",
    "pairwise_by_order",
    "wilson",
]
