"""A trial's value at a rung: computed from recorded rows up to a commit, so that an audit can compute it again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased

from api.schemas.enums import RatingMethod
from api.store.tables import Generation, Metric, ModelVersion, Player, Rating, RatingFit, Tally, Trial
from league.types import Role
from orchestrator.spec.sweeps.sweep import MetricSpec

RETURN = "return_mean"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A value and the rows that it was computed from; None: there is none yet."""

    value: float | None
    source: dict[str, Any]


def measure(session: Session, trial: Trial, metric: MetricSpec, *, after: int, commit: int) -> Measured:
    """The trial's value as of a commit; a win rate counts the games after the commit `after`."""
    player = player_measured(session, trial.id, metric)
    if metric.name == "return":
        measured = _return(session, player, commit)
    elif metric.name == "win_rate":
        measured = _win_rate(session, trial, player, metric, after, commit)
    else:
        measured = _rating(session, trial, player, commit)
    finite = measured.value is not None and math.isfinite(measured.value)
    return measured if finite else replace(measured, value=None)


def player_measured(session: Session, trial_id: str, metric: MetricSpec) -> Player:
    """The player that the metric is about: the one named, or the first main; of a population its first member."""
    query = select(Player).where(Player.trial_id == trial_id).order_by(Player.id).limit(1)
    if metric.player is not None:
        return session.scalars(query.where(_named(Player, metric.player))).one()
    return session.scalars(query.where(Player.role == Role.MAIN)).one()


def _named(player: type[Player], name: str | None) -> ColumnElement[bool]:
    """Whether this is the player of the trial file, or a member of its population."""
    return (player.name == name) | (player.population == name)


def _return(session: Session, player: Player, commit: int) -> Measured:
    row = session.execute(
        select(Metric.value, Metric.generation)
        .join(Generation, (Generation.player_id == Metric.player_id) & (Generation.number == Metric.generation))
        .where(Metric.player_id == player.id, Metric.name == RETURN, Generation.commit <= commit)
        .order_by(Metric.generation.desc())
        .limit(1)
    ).one_or_none()
    source: dict[str, Any] = {"metric": RETURN, "player_id": player.id}
    if row is None:
        return Measured(value=None, source=source)
    return Measured(value=row.value, source={**source, "generation": row.generation})


def _win_rate(session: Session, trial: Trial, player: Player, metric: MetricSpec, after: int, commit: int) -> Measured:
    learner, other, rival = aliased(ModelVersion), aliased(ModelVersion), aliased(Player)
    row = session.execute(
        select(func.sum(Tally.wins), func.sum(Tally.draws), func.sum(Tally.losses))
        .join(learner, learner.id == Tally.learner_version_id)
        .join(other, other.id == Tally.opponent_version_id)
        .join(rival, rival.id == other.player_id)
        .where(
            Tally.trial_id == trial.id,
            Tally.commit > after,
            Tally.commit <= commit,
            learner.player_id == player.id,
            _named(rival, metric.opponent),
        )
    ).one()
    wins, draws, losses = (int(count or 0) for count in row)
    games = wins + draws + losses
    source = {"player_id": player.id, "opponent": metric.opponent, "after": after}
    counts = {"wins": wins, "draws": draws, "losses": losses}
    return Measured(value=(wins + draws / 2) / games if games else None, source={**source, **counts})


def _rating(session: Session, trial: Trial, player: Player, commit: int) -> Measured:
    """The newest rated version of the player, in the newest fit that rates it."""
    row = session.execute(
        select(Rating.value, Rating.fit_id, Rating.version_id)
        .join(RatingFit, RatingFit.id == Rating.fit_id)
        .join(ModelVersion, ModelVersion.id == Rating.version_id)
        .where(
            ModelVersion.player_id == player.id,
            ModelVersion.commit <= commit,
            RatingFit.project_id == trial.project_id,
            RatingFit.method == RatingMethod.BRADLEY_TERRY,
        )
        .order_by(ModelVersion.number.desc(), RatingFit.last_match_id.desc(), RatingFit.id.desc())
        .limit(1)
    ).one_or_none()
    if row is None:
        return Measured(value=None, source={"player_id": player.id})
    return Measured(
        value=row.value, source={"player_id": player.id, "fit_id": row.fit_id, "version_id": row.version_id}
    )


def recorded_rating(session: Session, source: Mapping[str, Any]) -> float | None:
    """The rating that a value was taken from, by the fit and the version in its source; None: there was none."""
    if "fit_id" not in source:
        return None
    return session.scalar(
        select(Rating.value).where(Rating.fit_id == source["fit_id"], Rating.version_id == source["version_id"])
    )
