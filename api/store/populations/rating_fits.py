"""Ratings of policies by one fit: read as they were stored, or fitted again from the games that the fit saw."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import RatingMethod
from api.store.ratings.bradley_terry import fit_bradley_terry, rating_games
from api.store.tables import ModelVersion, Rating, RatingCovariance, RatingFit, Trial


@dataclass(frozen=True, kw_only=True)
class RatedPolicy:
    """A policy's rating in Elo, its standard error against the anchor, and its rating games."""

    value: float
    error: float
    games: int


@dataclass(frozen=True, kw_only=True)
class FittedPolicies:
    """The ratings by the hash of the weights, and the standard error of the difference of two."""

    policies: dict[str, RatedPolicy]
    error: Callable[[str, str], float]


def newest_fit(session: Session, trial: Trial) -> RatingFit | None:
    """The newest Bradley-Terry fit of the trial's game."""
    return session.scalars(
        select(RatingFit)
        .where(
            RatingFit.project_id == trial.project_id,
            RatingFit.game == trial.game,
            RatingFit.method == RatingMethod.BRADLEY_TERRY,
        )
        .order_by(RatingFit.created_at.desc(), RatingFit.id.desc())
        .limit(1)
    ).one_or_none()


def stored_ratings(session: Session, fit: RatingFit, wanted: Collection[str]) -> FittedPolicies | None:
    """What the fit stored about these policies; None where its covariance is deleted, as those of old fits are."""
    covariance = session.get(RatingCovariance, fit.id)
    if covariance is None:
        return None
    rows = session.execute(
        select(ModelVersion.sha256, Rating.version_id, Rating.value, Rating.deviation, Rating.games)
        .join(Rating, Rating.version_id == ModelVersion.id)
        .where(Rating.fit_id == fit.id, ModelVersion.sha256.in_(wanted))
    ).all()
    places = {version: place for place, version in enumerate(covariance.versions)}
    place = {sha256: places[version] for sha256, version, *_ in rows if sha256 is not None}
    size, upper = len(places), covariance.upper_triangle

    def entry(a: str, b: str) -> float:
        row, column = sorted((place[a], place[b]))
        return upper[row * size - row * (row - 1) // 2 + column - row]

    def error(a: str, b: str) -> float:
        return float(max(0.0, entry(a, a) + entry(b, b) - 2 * entry(a, b)) ** 0.5)

    policies = {
        sha256: RatedPolicy(value=value, error=deviation or 0.0, games=games)
        for sha256, _, value, deviation, games in rows
        if sha256 is not None
    }
    return FittedPolicies(policies=policies, error=error)


def fitted_again(session: Session, trial: Trial, fit: RatingFit) -> FittedPolicies:
    """The same ratings from the games that the fit saw."""
    ratings = fit_bradley_terry(rating_games(session, trial.project_id, trial.game, up_to=fit.last_match_id))
    if ratings is None:
        return FittedPolicies(policies={}, error=lambda a, b: 0.0)
    played = dict(zip(ratings.names, ratings.games, strict=True))
    policies = {
        name: RatedPolicy(
            value=ratings.elo(name), error=ratings.standard_error(name, ratings.anchor), games=played[name]
        )
        for name in ratings.names
    }
    return FittedPolicies(policies=policies, error=ratings.standard_error)
