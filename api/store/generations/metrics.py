"""Reads metrics as series, one for each player and name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Float,
    FromClause,
    Select,
    bindparam,
    cast,
    func,
    join,
    outerjoin,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by, array, distinct_on
from sqlalchemy.orm import Session, aliased

from api.schemas.metrics import Series
from api.store.core.errors import NotFound
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import Generation, Metric, Player, Trial
from orchestrator.contracts.nash_conv import OF_MIXTURE, OF_PLAYER

_OF_TRIAL = Metric.trial_id == bindparam("of_trial")


@dataclass(frozen=True, kw_only=True)
class MetricFilter:
    """Selects series and the number of their points."""

    player_id: str | None = None
    names: tuple[str, ...] = ()
    after_generation: int = 0
    points: int = 500
    spread: bool = False
    """Whether the points are spread over the whole series instead of being its newest ones."""
    times: bool = False


def metric_names(session: Session, trial_id: str) -> list[str]:
    """The names of all metrics of a trial, sorted: one look-up in the index for each, however many rows there are."""
    return list(session.scalars(_NAMES, {"of_trial": trial_id}))


def metrics_state(session: Session, trial_id: str) -> tuple[int, int]:
    """Changes whenever a metric of the trial is recorded: with a commit, or beside the commits by an evaluation."""
    row = session.execute(_STATE, {"of_trial": trial_id}).one_or_none()
    if row is None:
        raise NotFound(f"there is no trial {trial_id}")
    return row[0], row[1]


def metric_series(session: Session, trial_id: str, which: MetricFilter, *, skip: int, limit: int) -> list[Record]:
    """The series with their newest points, in order; a series without any such point has empty columns."""
    query = _series(
        with_player=which.player_id is not None,
        with_names=bool(which.names),
        spread=which.spread,
        times=which.times,
    )
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
            record |= {"generations": [], "steps": [], "values": [], "times": []}
    return records


def _all_names() -> Select[Any]:
    """A recursive query that jumps from each name to the next one in the index."""
    first = select(func.min(Metric.name).label("name")).where(_OF_TRIAL)
    found = first.cte("names", recursive=True)
    following = select(func.min(Metric.name)).where(_OF_TRIAL, Metric.name > found.c.name).scalar_subquery()
    found = found.union_all(select(following).where(found.c.name.is_not(None)))
    return select(found.c.name).where(found.c.name.is_not(None)).order_by(found.c.name)


_NAMES = _all_names()
_STATE = select(
    Trial.last_commit,
    select(func.count()).where(_OF_TRIAL, Metric.name.in_((OF_PLAYER, OF_MIXTURE))).scalar_subquery(),
).where(Trial.id == bindparam("of_trial"))


@cache
def _series(*, with_player: bool, with_names: bool, spread: bool, times: bool) -> Select[Any]:
    """Built once for each form: building the statement costs as much as running it."""
    series = select(Metric.player_id, Metric.name).where(_OF_TRIAL).distinct()
    if with_player:
        series = series.where(Metric.player_id == bindparam("of_player"))
    if with_names:
        series = series.where(Metric.name.in_(bindparam("named", expanding=True)))
    page = series.order_by(Metric.name, Metric.player_id).offset(bindparam("skip")).limit(bindparam("limit"))
    wanted = page.subquery()
    newest = (_spread(wanted) if spread else _newest(wanted)).lateral()
    in_order = newest.c.generation
    moments = func.array_agg(
        aggregate_order_by(cast(func.extract("epoch", Generation.recorded_at), BigInteger), in_order)
    )
    with_points = outerjoin(join(wanted, Player, Player.id == wanted.c.player_id), newest, true())
    with_moments = outerjoin(
        with_points, Generation, (Generation.player_id == wanted.c.player_id) & (Generation.number == in_order)
    )
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
                (moments if times else cast(array([]), ARRAY(BigInteger))).label("times"),
            )
        )
        .select_from(with_moments if times else with_points)
        .group_by(wanted.c.player_id, Player.name, wanted.c.name)
        .order_by(wanted.c.name, wanted.c.player_id)
    )


def _points(wanted: FromClause) -> Select[Any]:
    """All points of a series of `wanted` that are newer than asked."""
    points: Select[Any] = select(Metric.generation, Metric.steps, Metric.value)  # type: ignore[assignment]
    of_series = (Metric.name == wanted.c.name) & (Metric.player_id == wanted.c.player_id)
    return points.where(_OF_TRIAL, of_series, Metric.generation > bindparam("after"))


def _newest(wanted: FromClause) -> Select[Any]:
    return _points(wanted).order_by(Metric.generation.desc()).limit(bindparam("points"))


def _spread(wanted: FromClause) -> Select[Any]:
    """The newest point of each of equal ranges of generations, as many ranges as points are asked for."""
    every = aliased(Metric)
    last = (
        select(func.max(every.generation))
        .where(every.trial_id == bindparam("of_trial"), every.name == wanted.c.name)
        .where(every.player_id == wanted.c.player_id)
        .correlate(wanted)
        .scalar_subquery()
    )
    ranges = bindparam("points", type_=BigInteger)
    place = func.floor((last - Metric.generation) * cast(ranges, Float) / func.greatest(last, ranges))
    return _points(wanted).ext(distinct_on(place)).order_by(place, Metric.generation.desc())
