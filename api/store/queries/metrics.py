"""Metrics as series: one for each player and name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Row, func, select, true
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from api.store.models import Metric, Player

SeriesRow = Row[str, str, str, list[int], list[int], list[float]]


@dataclass(frozen=True, kw_only=True)
class MetricFilter:
    """Which series, and how many of their points."""

    player_id: str | None = None
    names: tuple[str, ...] = ()
    after_generation: int = 0
    points: int = 500


def metric_series(
    session: Session, trial_id: str, which: MetricFilter, *, skip: int, limit: int
) -> Sequence[SeriesRow]:
    """Player id and name, the metric's name, then generations, steps and values: the newest points, in order.

    A series without any such point has arrays of one null, so that a page's end is told from an empty series.
    """
    series = select(Metric.player_id, Metric.name).where(Metric.trial_id == trial_id).distinct()
    if which.player_id is not None:
        series = series.where(Metric.player_id == which.player_id)
    if which.names:
        series = series.where(Metric.name.in_(which.names))
    wanted = series.order_by(Metric.name, Metric.player_id).offset(skip).limit(limit).subquery()
    newest = (
        select(Metric.generation, Metric.steps, Metric.value)
        .where(Metric.trial_id == trial_id, Metric.name == wanted.c.name, Metric.player_id == wanted.c.player_id)
        .where(Metric.generation > which.after_generation)
        .order_by(Metric.generation.desc())
        .limit(which.points)
        .lateral()
    )
    in_order = newest.c.generation
    query = (
        select(
            wanted.c.player_id,
            Player.name,
            wanted.c.name,
            *(func.array_agg(aggregate_order_by(column, in_order)) for column in newest.c),
        )
        .select_from(wanted)
        .join(Player, Player.id == wanted.c.player_id)
        .outerjoin(newest, true())
        .group_by(wanted.c.player_id, Player.name, wanted.c.name)
        .order_by(wanted.c.name, wanted.c.player_id)
    )
    return session.execute(query).all()
