"""Ratings and generations of one player with the times at which they were recorded, from its trial's start."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from api.schemas.compare import RatedPoint
from api.schemas.enums import RatingMethod
from api.store.players.versions import version_name
from api.store.ratings.reads import Z95, newest_fit
from api.store.tables import Generation, ModelVersion, Player, Rating, RatingFit, Trial


def rating_fit(session: Session, trial: Trial) -> str | None:
    """The newest Bradley-Terry fit that rates the trial."""
    fit = newest_fit(session, trial.id, RatingMethod.BRADLEY_TERRY)
    return None if fit is None else str(fit["id"])


def rating_zero(session: Session, fit_id: str) -> str | None:
    """The version whose rating is 0 in the fit, by its name."""
    anchor = session.get_one(RatingFit, fit_id).anchor_version_id
    return None if anchor is None else version_name(session, anchor)


def rated_line(session: Session, trial: Trial, player: Player, fit_id: str) -> list[RatedPoint]:
    """The rated versions of the player and of its snapshots, by steps; where both have the same steps, the snapshot."""
    rows = session.execute(
        select(ModelVersion, Player.name, Rating.value, Rating.deviation)
        .select_from(Rating)
        .join(ModelVersion, ModelVersion.id == Rating.version_id)
        .join(Player, Player.id == ModelVersion.player_id)
        .where(Rating.fit_id == fit_id, or_(Player.id == player.id, Player.parent_id == player.id))
        .order_by(ModelVersion.steps, Player.parent_id.is_not(None), ModelVersion.id)
    )
    start = trial.started_at or trial.created_at
    by_steps = {
        version.steps: RatedPoint(
            version_id=version.id,
            label=f"{name} v{version.number}",
            steps=version.steps,
            seconds=_since(start, version.created_at),
            value=value,
            low=None if deviation is None else value - Z95 * deviation,
            high=None if deviation is None else value + Z95 * deviation,
        )
        for version, name, value, deviation in rows
    }
    return list(by_steps.values())


def generation_clock(session: Session, trial: Trial, player: Player, points: int) -> list[tuple[int, float]]:
    """The newest generations of the player, in order, with the seconds from the trial's start to their record."""
    start = trial.started_at or trial.created_at
    newest = session.execute(
        select(Generation.number, Generation.recorded_at)
        .where(Generation.player_id == player.id)
        .order_by(Generation.number.desc())
        .limit(points)
    ).all()
    return [(number, _since(start, recorded)) for number, recorded in reversed(newest)]


def _since(start: datetime, moment: datetime) -> float:
    """A fork's inherited versions are older than the fork: they count as its start."""
    return max(0.0, (moment - start).total_seconds())
