"""Reads trials, as answers show them and as other packages of the store need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    Interval,
    Row,
    Select,
    and_,
    case,
    cast,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus, TrialKind, TrialSort, TrialStatus
from api.schemas.events import TrialStatusChanged
from api.schemas.trials import Trial as TrialAnswer
from api.schemas.trials import TrialSummary
from api.store.core.errors import NotFound
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import Event, Player, Project, Trial
from api.store.trials.names import is_named
from league.types import Role


@dataclass(frozen=True, kw_only=True)
class TrialFilter:
    """Selects trials."""

    project: str | None = None
    name: str | None = None
    """Also a former name."""
    words: tuple[str, ...] = ()
    """Each must be in the project, name, game, a tag or the notes."""
    tags: tuple[str, ...] = ()
    """All of them."""
    statuses: tuple[TrialStatus, ...] = ()
    archived: bool = False


def list_trials(
    session: Session,
    which: TrialFilter,
    *,
    before: str | None,
    limit: int,
    sort: TrialSort = TrialSort.NEWEST,
) -> list[Record]:
    """Trials without their files (TrialSummary) in this order; `before` is the last trial of the page before."""
    query = _SUMMARIES.where(Trial.kind == TrialKind.LEAGUE).limit(limit)
    if which.project is not None:
        query = query.where(Project.name == which.project)
    if which.name is not None:
        query = query.where(is_named(which.name))
    if which.statuses:
        query = query.where(Trial.status.in_(which.statuses))
    if not which.archived:
        query = query.where(Trial.archived_at.is_(None))
    if which.tags:
        query = query.where(Trial.tags.contains(list(which.tags)))
    for word in which.words:
        query = query.where(_SEARCHED.contains(word.lower(), autoescape=True))
    return read_records(session, _sorted(query, sort, before))


def _sorted(query: Select[Any], sort: TrialSort, after: str | None) -> Select[Any]:
    """The query in this order, the newest first among equals, and only what follows the row `after`."""
    column = _SORTED_BY[sort.removeprefix("-")]
    falling = sort.startswith("-")
    query = query.order_by(column.desc() if falling else column.asc(), Trial.id.desc())
    if after is None:
        return query
    here = select(column).join_from(Trial.__table__, Project.__table__).where(Trial.id == after).scalar_subquery()
    beyond = column < here if falling else column > here
    return query.where(or_(beyond, and_(column == here, Trial.id < after)))


def read_trial(session: Session, trial_id: str) -> Record:
    """One trial with its file (schema Trial)."""
    found = read_records(session, _TRIALS.where(Trial.id == trial_id))
    if not found:
        raise NotFound(f"there is no trial {trial_id}")
    return found[0]


def get_trial(session: Session, trial_id: str) -> Trial:
    """The row of one trial."""
    row = session.get(Trial, trial_id)
    if row is None:
        raise NotFound(f"there is no trial {trial_id}")
    return row


def require_trial(session: Session, trial_id: str) -> int:
    """The trial's newest commit; NotFound if there is no such trial. Cheaper than reading the trial."""
    commit = session.scalar(select(Trial.last_commit).where(Trial.id == trial_id))
    if commit is None:
        raise NotFound(f"there is no trial {trial_id}")
    return commit


def learners(session: Session, trial_id: str) -> Sequence[Row[str, str, int]]:
    """Id, name and newest generation of each player that may be learning now."""
    running = (TrialStatus.RUNNING, TrialStatus.PAUSING, TrialStatus.STOPPING)
    learning = [role for role in Role if role.learns]
    return session.execute(
        select(Player.id, Player.name, Player.generation)
        .join(Trial, Trial.id == Player.trial_id)
        .where(Trial.id == trial_id, Trial.status.in_(running))
        .where(Player.role.in_(learning), Player.status == PlayerStatus.ACTIVE)
    ).all()


def _answers(schema: type[TrialSummary]) -> Select[Any]:
    spec = Trial.__table__.c.spec
    limit = func.extract("epoch", cast(spec[("budget", "wall_clock")].astext, Interval))
    others = (
        Project.__table__.c.name.label("project"),
        cast(spec[("budget", "steps")].astext, BigInteger).label("budget_steps"),
        cast(limit, Double).label("budget_seconds"),
        spec[("budget", "until")].label("budget_until"),
        _seconds_run().label("seconds_run"),
        _running_since().label("running_since"),
    )
    return select(*fields_of(schema, Trial.__table__, *others)).join_from(Trial.__table__, Project.__table__)


def _seconds_run() -> ColumnElement[float]:
    """The time between each start and the stop after it, as the workflow measures it: pausing is no pause yet."""
    seconds = func.extract("epoch", _MOVES.c.created_at - Trial.__table__.c.created_at)
    stopped = func.sum(case((_STARTS, -seconds), else_=seconds))
    running = func.extract("epoch", _running_since() - Trial.__table__.c.created_at)
    total = select(stopped).where(or_(_STARTS, _STOPS), *_OF_TRIAL).correlate(Trial.__table__).scalar_subquery()
    return cast(func.coalesce(total, literal(0)) + func.coalesce(running, literal(0)), Double)


def _running_since() -> ColumnElement[Any]:
    """The last start of a trial whose time passes."""
    last = select(func.max(_MOVES.c.created_at)).where(_STARTS, *_OF_TRIAL).correlate(Trial.__table__)
    return case((Trial.__table__.c.status.in_(_CLOCK_RUNS), last.scalar_subquery()))


_CLOCK_RUNS = (TrialStatus.RUNNING, TrialStatus.PAUSING, TrialStatus.STOPPING)
_MOVES = Event.__table__.alias("moves")
_FROM = _MOVES.c.payload["from"].astext.in_([status.value for status in _CLOCK_RUNS])
_TO = _MOVES.c.payload["to"].astext.in_([status.value for status in _CLOCK_RUNS])
_STARTS = and_(_TO, ~_FROM)
_STOPS = and_(_FROM, ~_TO)
_OF_TRIAL = (_MOVES.c.trial_id == Trial.__table__.c.id, _MOVES.c.type == TrialStatusChanged.KIND)


_SEARCHED = func.lower(
    func.concat_ws(" ", Project.name, Trial.name, Trial.game, func.array_to_string(Trial.tags, " "), Trial.notes)
)
_SORTED_BY: dict[str, ColumnElement[Any]] = {
    "created": Trial.__table__.c.id,  # ids are in the order of creation
    "name": Trial.__table__.c.name,
    "project": Project.__table__.c.name,
    "game": Trial.__table__.c.game,
    "steps": Trial.__table__.c.steps,
    "status": case({status.value: place for place, status in enumerate(TrialStatus)}, value=Trial.__table__.c.status),
}
# built once: a statement costs more to put together than to run
_SUMMARIES = _answers(TrialSummary)
_TRIALS = _answers(TrialAnswer)
