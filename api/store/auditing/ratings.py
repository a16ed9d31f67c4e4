"""Ratings: every recorded fit, fitted again from the games it saw."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.auditing.report import Finding, Wrong
from api.store.models import ModelVersion, Rating, RatingFit
from api.store.models.words import RatingMethod
from api.store.ratings import fitted, policies_of, rating_games

TOLERANCE = 1e-6
"""Elo; the fit itself is iterative."""


def wrong_ratings(session: Session) -> Iterator[Finding]:
    """Fits that their games do not confirm."""
    fits = select(RatingFit).where(RatingFit.method == RatingMethod.BRADLEY_TERRY).order_by(RatingFit.id)
    for fit in session.scalars(fits):
        if fit.settings.get("unit") == "elo" and "policies" in fit.settings:
            yield from _wrong_fit(session, fit)


def _wrong_fit(session: Session, fit: RatingFit) -> Iterator[Finding]:
    subject = f"rating fit {fit.id} of {fit.game}"
    games = rating_games(session, fit.project_id, fit.game, up_to=fit.last_match_id)
    if games.games != fit.games:
        wrong = Wrong.LOST if games.games < fit.games else Wrong.DOUBLED
        yield Finding(wrong=wrong, subject=subject, detail=f"it saw {fit.games} games, {games.games} are there")
        return
    ratings = fitted(games)
    elos = {} if ratings is None else ratings.elos()
    places = session.scalars(select(Rating).where(Rating.fit_id == fit.id)).all()
    policies = policies_of(session, {place.version_id for place in places})
    for place in places:
        again = elos.get(policies[place.version_id], math.nan)
        if not math.isclose(again, place.value, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            number = session.get_one(ModelVersion, place.version_id).number
            detail = f"version {number} ({place.version_id}) is kept at {place.value!r}, recomputed at {again!r}"
            yield Finding(wrong=Wrong.DISAGREEING, subject=subject, detail=detail)
    missing = sorted(set(games.policies) - {place.version_id for place in places})
    if missing:
        yield Finding(wrong=Wrong.LOST, subject=subject, detail=f"no places of versions {missing}")
