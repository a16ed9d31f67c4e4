"""Policy-space response oracles: opponents drawn from a meta-strategy of the pool's empirical game.

See docs/decisions/payoff-and-matchmaking.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from league.errors import InvalidInput
from league.matchmaking.meta_strategies import META_STRATEGIES
from league.matchmaking.mixture import Mixture, Share
from league.matchmaking.roster import Request
from league.matchmaking.self_play import PastOptions, fallback
from league.payoff import PayoffView
from league.types import PlayerId
from league.validation import Floats, one_of, options_from

LARGEST_POOL = 2_000
"""A dense game of more players than this is not solved within a decision's time."""
BY_RETURNS, BY_RESULTS = "mean returns", "win rates"


@dataclass(frozen=True, kw_only=True)
class PsroOptions(PastOptions):
    """The meta-strategy by name, and the ranking intensity if it is `alpha_rank`."""

    meta_strategy: str = "nash"
    alpha: float = 100.0


def psro(request: Request) -> Mixture:
    """Opponents drawn from the meta-strategy over the frozen players; pairs never played count as even.

    Payoffs of the meta-game are mean returns, which a response learns to maximise: a rare large gain is not a
    win. If games were recorded without returns, the payoffs are win rates.
    """
    options = options_from(PsroOptions, request.options, "psro")
    one_of(options.meta_strategy, META_STRATEGIES, "meta-strategy")
    pool = request.past(options.pool, include_bots=options.include_bots)
    if not pool.size:
        return fallback(request, "psro", "frozen players")
    if pool.size > LARGEST_POOL:
        raise InvalidInput(f"psro solves pools of at most {LARGEST_POOL} players, got {pool.size}")
    players = [request.players.ids[position] for position in pool.tolist()]
    game, unit = meta_game(request.payoff, players)
    weights = META_STRATEGIES[options.meta_strategy](game, options.alpha)
    pairs = len(players) * (len(players) - 1) // 2
    unknown = pairs - sum(request.payoff.known_among(player, players) for player in players) // 2
    note = f"a game of {unit}"
    if unknown:
        note += f"; {unknown} of {pairs} pairs of the pool have not been played and count as even"
    share = Share(branch=f"meta_{options.meta_strategy}", positions=pool, probabilities=weights)
    return Mixture.of(request, "psro", [share], note)


def meta_game(payoff: PayoffView, players: Sequence[PlayerId]) -> tuple[Floats, str]:
    """The players' empirical game, antisymmetric and within -1 to 1, and the unit of its entries."""
    earned = np.array([payoff.return_margins(player, players) for player in players])
    np.fill_diagonal(earned, 0.0)
    if np.isnan(earned).any():
        won = np.array([payoff.win_rates(player, players) for player in players])
        return won - won.T, BY_RESULTS
    # scaled down to the size of win rates, so that a solver's settings mean the same in every game
    return (earned - earned.T) / 2 / max(1.0, np.abs(earned).max()), BY_RETURNS
