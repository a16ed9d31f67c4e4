"""Ratings: the newest fit of a method, and its places."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from api.store.models import ModelVersion, Player, Rating, RatingFit, Trial
from api.store.models.words import RatingMethod

RatingRow = Row[Rating, ModelVersion, str]


def newest_fit(session: Session, trial: Trial, method: RatingMethod) -> RatingFit | None:
    """The newest fit over the rating games of the trial's project and game."""
    return session.scalars(
        select(RatingFit)
        .where(RatingFit.project_id == trial.project_id, RatingFit.game == trial.game, RatingFit.method == method)
        .order_by(RatingFit.id.desc())
        .limit(1)
    ).one_or_none()


def ratings_of(session: Session, fit_id: str, trial_id: str, *, after: int | None, limit: int) -> Sequence[RatingRow]:
    """The places of the trial's versions in a fit, the best first; ranks are of the whole fit."""
    query = (
        select(Rating, ModelVersion, Player.name)
        .join(ModelVersion, ModelVersion.id == Rating.version_id)
        .join(Player, Player.id == ModelVersion.player_id)
        .where(Rating.fit_id == fit_id, ModelVersion.trial_id == trial_id)
        .order_by(Rating.rank, Rating.version_id)
        .limit(limit)
    )
    return session.execute(query.offset(after or 0)).all()
