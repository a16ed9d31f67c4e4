"""Ratings: the newest fit of a method, and its places."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.models import ModelVersion, Player, Rating, RatingFit, Trial
from api.store.models.words import RatingMethod
from api.store.queries.records import Record, plain, read_records


def newest_fit(session: Session, trial_id: str, method: RatingMethod) -> RatingFit | None:
    """The newest fit in which versions of the trial take part; fits of one tournament's field leave most out."""
    of_trial = (Trial.project_id == RatingFit.project_id) & (Trial.game == RatingFit.game)
    takes_part = (
        select(Rating.fit_id)
        .join(ModelVersion, ModelVersion.id == Rating.version_id)
        .where(Rating.fit_id == RatingFit.id, ModelVersion.trial_id == trial_id)
        .exists()
    )
    return session.scalars(
        select(RatingFit)
        .join(Trial, of_trial)
        .where(Trial.id == trial_id, RatingFit.method == method, takes_part)
        .order_by(RatingFit.id.desc())
        .limit(1)
    ).one_or_none()


def ratings_of(session: Session, fit_id: str, trial_id: str, *, after: int | None, limit: int) -> list[Record]:
    """The places of the trial's versions in a fit, with their players, the best first; ranks are of the whole fit."""
    query = _PLACES.where(_RATINGS.c.fit_id == fit_id, _VERSIONS.c.trial_id == trial_id)
    return read_records(session, query.limit(limit).offset(after or 0))


# tables and not entities: a list of entities costs several times as much to read
_RATINGS, _VERSIONS, _PLAYERS = Rating.__table__, ModelVersion.__table__, Player.__table__
_PLACES = (
    select(
        *plain([*_RATINGS.c, _VERSIONS.c.player_id]),
        _PLAYERS.c.name.label("player"),
        _VERSIONS.c.number,
        _VERSIONS.c.steps,
    )
    .join(_VERSIONS, _VERSIONS.c.id == _RATINGS.c.version_id)
    .join(_PLAYERS, _PLAYERS.c.id == _VERSIONS.c.player_id)
    .order_by(_RATINGS.c.rank, _RATINGS.c.version_id)
)
