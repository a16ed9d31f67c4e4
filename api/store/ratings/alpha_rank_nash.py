"""Beside Bradley-Terry: alpha-rank and Nash averaging over the field of one tournament.

Both need every pair's win rate. All rating games between two entrants count; two that never met get what
Bradley-Terry expects of them, and the fit says how many of its cells are such.
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
from api.store.ratings.bradley_terry import RatingGames, fitted, rating_games
from api.store.tables import Rating, RatingFit, Tournament
from api.store.tournaments.results import field_of
from league.ratings import Ratings, alpha_rank, nash_average
from league.validation import Floats

ALPHA: Final = 100.0
"""Ranking intensity: at a population of 50 a lead of 1 % already takes over."""
POPULATION: Final = 50


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
    """Fit both once after a tournament; a field that has not played yet has no ratings."""
    tournament = session.get(Tournament, tournament_id)
    if tournament is None:
        raise NotFound(f"there is no tournament {tournament_id}")
    methods = (RatingMethod.ALPHA_RANK, RatingMethod.NASH_AVERAGING)
    known = select(RatingFit.id).where(RatingFit.tournament_id == tournament_id, RatingFit.method.in_(methods))
    if session.scalars(known).first() is not None:
        return
    games = rating_games(session, tournament.project_id, tournament.game)
    ratings = fitted(games)
    payoff = None if ratings is None else _payoff(session, tournament, games, ratings)
    if payoff is None:
        return
    chances = alpha_rank(payoff.rates, ALPHA, POPULATION)
    _keep(session, tournament, games, payoff, RatingMethod.ALPHA_RANK, chances, alpha=ALPHA, population=POPULATION)
    mixture, skills = nash_average(payoff.rates)
    weights = {version: float(p) for version, p in zip(payoff.versions, mixture, strict=True) if p > 1e-9}
    _keep(session, tournament, games, payoff, RatingMethod.NASH_AVERAGING, skills, mixture=weights)


def _payoff(session: Session, tournament: Tournament, games: RatingGames, ratings: Ratings) -> FieldPayoff | None:
    entrants = field_of(session, tournament.id)
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
    tournament: Tournament,
    games: RatingGames,
    payoff: FieldPayoff,
    method: RatingMethod,
    values: Floats,
    **settings: Any,
) -> None:
    fit_id = new_id()
    session.execute(
        insert(RatingFit).values(
            id=fit_id,
            project_id=tournament.project_id,
            game=tournament.game,
            method=method,
            tournament_id=tournament.id,
            games=payoff.games,
            last_match_id=games.last_match_id,
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
            # equal to nine digits share a rank: those of a mixture all have skill 0 up to rounding
            "rank": 1 + int((values > values[place] + 1e-9).sum()),
            "prior": False,
        }
        for place, version in enumerate(payoff.versions)
    ]
    session.execute(insert(Rating), rows)
