"""Alpha-rank and Nash averaging over the entrants of one tournament.

Both need the win rate of every pair. All rating games between two entrants count. A pair that never met gets the
score that Bradley-Terry expects, and the fit records how many pairs are such.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from api.schemas.enums import RatingMethod
from api.store.core.errors import NotFound
from api.store.core.ids import new_id
from api.store.ratings.bradley_terry import RatingGames, fit_bradley_terry, rates_every_policy, rating_games
from api.store.tables import Rating, RatingFit, Tournament
from api.store.tournaments.results import entrants_of
from league.ratings import Ratings, alpha_rank, nash_average
from league.validation import Floats

ALPHA: Final = 100.0
"""Ranking intensity: with a population of 50 a lead of 1 % is already decisive."""
POPULATION: Final = 50
FIELD_METHODS: Final = (RatingMethod.ALPHA_RANK, RatingMethod.NASH_AVERAGING)


@dataclass(frozen=True, kw_only=True)
class FieldPayoff:
    """Win rates of every entrant against every other."""

    versions: tuple[str, ...]
    rates: Floats
    played: Floats
    expected_cells: int

    @property
    def games(self) -> int:
        return int(self.played.sum()) // 2


def rate_field(session: Session, tournament_id: str) -> None:
    """Fit both methods once after a tournament, over the games that its Bradley-Terry fit saw."""
    tournament = session.get(Tournament, tournament_id)
    if tournament is None:
        raise NotFound(f"there is no tournament {tournament_id}")
    known = select(RatingFit.id).where(RatingFit.tournament_id == tournament_id, RatingFit.method.in_(FIELD_METHODS))
    if session.scalars(known).first() is not None:
        return
    beside = bradley_terry_fit(session, tournament_id)
    payoff = None if beside is None else field_payoff(session, tournament, beside)
    if beside is None or payoff is None:
        return
    masses = _alpha_rank(payoff)
    _keep(session, beside, payoff, RatingMethod.ALPHA_RANK, masses, alpha=ALPHA, population=POPULATION)
    mixture, skills = nash_average(payoff.rates)
    weights = {version: float(p) for version, p in zip(payoff.versions, mixture, strict=True) if p > 1e-9}
    _keep(session, beside, payoff, RatingMethod.NASH_AVERAGING, skills, mixture=weights)


def bradley_terry_fit(session: Session, tournament_id: str) -> RatingFit | None:
    """The Bradley-Terry fit that was made after a tournament; None if no game had been played."""
    method = RatingMethod.BRADLEY_TERRY
    return session.scalars(
        select(RatingFit).where(RatingFit.tournament_id == tournament_id, RatingFit.method == method)
    ).one_or_none()


def field_payoff(session: Session, tournament: Tournament, beside: RatingFit) -> FieldPayoff | None:
    """The field's win rates, from the games that the Bradley-Terry fit saw; None for a field of fewer than two."""
    games = rating_games(
        session,
        tournament.project_id,
        tournament.game,
        up_to=beside.last_match_id,
        whole=rates_every_policy(beside),
    )
    ratings = fit_bradley_terry(games)
    return None if ratings is None else _payoff(session, tournament, games, ratings)


def field_values(method: RatingMethod, payoff: FieldPayoff) -> dict[str, float]:
    """The value of each version by alpha-rank (its stationary mass) or by Nash averaging (its skill)."""
    values = _alpha_rank(payoff) if method is RatingMethod.ALPHA_RANK else nash_average(payoff.rates)[1]
    return {version: float(value) for version, value in zip(payoff.versions, values, strict=True)}


def _alpha_rank(payoff: FieldPayoff) -> Floats:
    return alpha_rank(payoff.rates, ALPHA, POPULATION)


def _payoff(session: Session, tournament: Tournament, games: RatingGames, ratings: Ratings) -> FieldPayoff | None:
    entrants = entrants_of(session, tournament.id)
    versions = tuple(each.version_id for each in entrants if each.version_id in games.policies)
    if len(versions) < 2:
        return None
    count = len(versions)
    rates, played = np.full((count, count), 0.5), np.zeros((count, count))
    for i, first in enumerate(versions):
        for j, second in enumerate(versions[:i]):
            a, b = games.policies[first], games.policies[second]
            won, drawn, lost = _both_ways(games, a, b)
            total = won + drawn + lost
            rate = (won + drawn / 2) / total if total else ratings.expected_score(a, b)
            rates[i, j], rates[j, i] = rate, 1 - rate
            played[i, j] = played[j, i] = total
    unmet = int((played == 0).sum() - count) // 2
    return FieldPayoff(versions=versions, rates=rates, played=played, expected_cells=unmet)


def _both_ways(games: RatingGames, a: str, b: str) -> tuple[int, int, int]:
    won, drawn, lost = games.tallies.get((a, b), (0, 0, 0))
    lost_back, drawn_back, won_back = games.tallies.get((b, a), (0, 0, 0))
    return won + won_back, drawn + drawn_back, lost + lost_back


def _keep(
    session: Session,
    beside: RatingFit,
    payoff: FieldPayoff,
    method: RatingMethod,
    values: Floats,
    **settings: Any,
) -> None:
    fit_id = new_id()
    session.execute(
        insert(RatingFit).values(
            id=fit_id,
            project_id=beside.project_id,
            game=beside.game,
            method=method,
            tournament_id=beside.tournament_id,
            games=payoff.games,
            last_match_id=beside.last_match_id,
            settings={"field": "the tournament's entrants", "pairs_expected": payoff.expected_cells, **settings},
        )
    )
    rows = [
        {
            "fit_id": fit_id,
            "version_id": version,
            "value": float(values[place]),
            "deviation": None,
            "games": int(payoff.played[place].sum()),
            # values equal to nine digits share a rank: members of the equilibrium have skill 0 up to rounding
            "rank": 1 + int((values > values[place] + 1e-9).sum()),
            "prior": False,
        }
        for place, version in enumerate(payoff.versions)
    ]
    session.execute(insert(Rating), rows)
