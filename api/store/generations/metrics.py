"""Reads metrics as series, one for each player and name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select, true
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from api.schemas.metrics import Series
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import Metric, Player


@dataclass(frozen=True, kw_only=True)
class MetricFilter:
    """Selects series and the number of their points."""

    player_id: str | None = None
    names: tuple[str, ...] = ()
    after_generation: int = 0
    points: int = 500


def metric_series(session: Session, trial_id: str, which: MetricFilter, *, skip: int, limit: int) -> list[Record]:
    """The series with their newest points, in order; a series without any such point has empty columns."""
    query = _series(with_player=which.player_id is not None, with_names=bool(which.names))
    asked = {
        "of_trial": trial_id,
        "of_player": which.player_id,
        "named": list(which.names),
        "after": which.after_generation,
        "points": which.points,
        "skip": skip,
        "limit": limit,
    }
    records = read_records(session, query, asked)
    for record in records:
        if record["generations"] == [None]:  # the outer join's row for a series without points
            record |= {"generations": [], "steps": [], "values": []}
    return records


@cache
def _series(*, with_player: bool, with_names: bool) -> Select[Any]:
    """Built once for each form: building the statement costs as much as running it."""
    of_trial = Metric.trial_id == bindparam("of_trial")
    series = select(Metric.player_id, Metric.name).where(of_trial).distinct()
    if with_player:
        series = series.where(Metric.player_id == bindparam("of_player"))
    if with_names:
        series = series.where(Metric.name.in_(bindparam("named", expanding=True)))
    page = series.order_by(Metric.name, Metric.player_id).offset(bindparam("skip")).limit(bindparam("limit"))
    wanted = page.subquery()
    newest = (
        select(Metric.generation, Metric.steps, Metric.value)
        .where(of_trial, Metric.name == wanted.c.name, Metric.player_id == wanted.c.player_id)
        .where(Metric.generation > bindparam("after"))
        .order_by(Metric.generation.desc())
        .limit(bindparam("points"))
        .lateral()
    )
    in_order = newest.c.generation
    return (
        select(
            *fields_of(
                Series,
                wanted,
                Player.name.label("player"),
                *(
                    func.array_agg(aggregate_order_by(column, in_order)).label(name)
                    for column, name in zip(newest.c, ("generations", "steps", "values"), strict=True)
                ),
            )
        )
        .select_from(wanted)
        .join(Player, Player.id == wanted.c.player_id)
        .outerjoin(newest, true())
        .group_by(wanted.c.player_id, Player.name, wanted.c.name)
        .order_by(wanted.c.name, wanted.c.player_id)
    )
