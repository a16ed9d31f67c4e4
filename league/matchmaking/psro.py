"""Policy-space response oracles: opponents by the meta-strategy of the pool's empirical game."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from league.errors import InvalidInput
from league.matchmaking.meta_strategies import META_STRATEGIES
from league.matchmaking.mixture import Mixture, Share
from league.matchmaking.roster import Request
from league.matchmaking.simple import PastOptions, fallback
from league.validation import one_of, options_from

LARGEST_POOL = 2_000
"""A dense game of more players than this is not solved within a decision's time."""


@dataclass(frozen=True, kw_only=True)
class PsroOptions(PastOptions):
    """The meta-strategy by name, and the ranking intensity if it is `alpha_rank`."""

    meta_strategy: str = "nash"
    alpha: float = 100.0


def psro(request: Request) -> Mixture:
    """Opponents drawn from the meta-strategy over the frozen players; pairs never played count as even."""
    options = options_from(PsroOptions, request.options, "psro")
    one_of(options.meta_strategy, META_STRATEGIES, "meta-strategy")
    pool = request.past(options.pool, include_bots=options.include_bots)
    if not pool.size:
        return fallback(request, "psro", "frozen players")
    if pool.size > LARGEST_POOL:
        raise InvalidInput(f"psro solves pools of at most {LARGEST_POOL} players, got {pool.size}")
    players = [request.players.ids[position] for position in pool.tolist()]
    game = np.array([request.payoff.win_rates(player, players) for player in players])
    np.fill_diagonal(game, 0.5)
    weights = META_STRATEGIES[options.meta_strategy](game, options.alpha)
    unknown = sum(not request.payoff.known(a, b) for index, a in enumerate(players) for b in players[index + 1 :])
    pairs = len(players) * (len(players) - 1) // 2
    note = f"{unknown} of {pairs} pairs of the pool have not been played and count as even" if unknown else ""
    share = Share(branch=f"meta_{options.meta_strategy}", positions=pool, probabilities=weights)
    return Mixture.of(request, "psro", [share], note)
