"""Reads tournaments, their pairings and entrants, and schedules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, func, null, select, true, tuple_
from sqlalchemy.orm import Session, aliased

from api.schemas.enums import PairingStatus, TournamentPurpose, TournamentStatus
from api.schemas.schedules import Schedule as ScheduleAnswer
from api.schemas.tournaments import Entrant
from api.schemas.tournaments import Pairing as PairingAnswer
from api.schemas.tournaments import Tournament as TournamentAnswer
from api.store.core.errors import NotFound
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import Pairing, Project, Schedule, Tournament, TournamentEntrant

NamedTournament = Row[Tournament, str, int, int, int]
"""The tournament, its project's name, and the numbers of its entrants, played pairings and planned pairings."""


@dataclass(frozen=True, kw_only=True)
class TournamentFilter:
    """Selects tournaments."""

    project: str | None = None
    trial_id: str | None = None
    schedule_id: str | None = None
    statuses: tuple[TournamentStatus, ...] = ()
    purposes: tuple[TournamentPurpose, ...] = ()


def list_tournaments(session: Session, which: TournamentFilter, *, before: str | None, limit: int) -> list[Record]:
    """Tournaments, the newest first."""
    query = _ANSWERS.order_by(Tournament.id.desc()).limit(limit)
    if which.project is not None:
        query = query.where(Project.name == which.project)
    if which.trial_id is not None:
        query = query.where(Tournament.trial_id == which.trial_id)
    if which.schedule_id is not None:
        query = query.where(Tournament.schedule_id == which.schedule_id)
    if which.purposes:
        query = query.where(Tournament.purpose.in_(which.purposes))
    if which.statuses:
        query = query.where(Tournament.status.in_(which.statuses))
    if before is not None:
        query = query.where(Tournament.id < before)
    return read_records(session, query)


def read_tournament(session: Session, tournament_id: str) -> Record:
    """One tournament, with the number of its entrants and pairings."""
    found = read_records(session, _ANSWERS.where(Tournament.id == tournament_id))
    if not found:
        raise NotFound(f"there is no tournament {tournament_id}")
    return found[0]


def get_tournament(session: Session, tournament_id: str) -> NamedTournament:
    """The row of one tournament, with its project's name and its counts."""
    row = session.execute(_NAMED.where(Tournament.id == tournament_id)).one_or_none()
    if row is None:
        raise NotFound(f"there is no tournament {tournament_id}")
    return row


def list_pairings(session: Session, tournament_id: str, *, after: tuple[int, int] | None, limit: int) -> list[Record]:
    """Pairings with the labels of both sides, in the order of play; `after` is the last round and pair seen."""
    query = _PAIRINGS.where(Pairing.tournament_id == tournament_id).limit(limit)
    if after is not None:
        query = query.where(tuple_(Pairing.round, Pairing.pair) > after)
    return read_records(session, query)


def list_schedules(session: Session, *, project: str | None, before: str | None, limit: int) -> list[Record]:
    """Schedules that were not deleted, the newest first."""
    query = _SCHEDULES.order_by(Schedule.id.desc()).limit(limit)
    if project is not None:
        query = query.where(Project.name == project)
    if before is not None:
        query = query.where(Schedule.id < before)
    return read_records(session, query)


def read_schedule(session: Session, schedule_id: str) -> Record:
    """One schedule that was not deleted; its firings, which only Temporal knows, are null."""
    found = read_records(session, _SCHEDULES.where(Schedule.id == schedule_id))
    if not found:
        raise NotFound(f"there is no schedule {schedule_id}")
    return found[0]


def list_entrants(session: Session, tournament_id: str, *, after: int | None, limit: int) -> list[Record]:
    """The field, by number."""
    query = _ENTRANTS.where(_FIELD.c.tournament_id == tournament_id)
    if after is not None:
        query = query.where(_FIELD.c.number > after)
    return read_records(session, query.order_by(_FIELD.c.number).limit(limit))


def require_tournament(session: Session, tournament_id: str) -> None:
    """Raise NotFound if there is no such tournament; cheaper than reading it."""
    if session.scalar(select(Tournament.id).where(Tournament.id == tournament_id)) is None:
        raise NotFound(f"there is no tournament {tournament_id}")


def _pairings() -> Select[Any]:
    first, second = aliased(TournamentEntrant), aliased(TournamentEntrant)
    labels = first.label.label("first"), second.label.label("second")
    return (
        select(*fields_of(PairingAnswer, Pairing.__table__, *labels))
        .select_from(Pairing)
        .join(first, (first.tournament_id == Pairing.tournament_id) & (first.number == Pairing.first))
        .outerjoin(second, (second.tournament_id == Pairing.tournament_id) & (second.number == Pairing.second))
        .order_by(Pairing.round, Pairing.pair)
    )


def _counted(*row: Any) -> Select[Any]:
    """Tournaments as answers show them, or as rows, with the number of entrants and pairings."""
    played = func.count().filter(Pairing.status == PairingStatus.PLAYED)
    pairings = (
        select(played.label("pairings_played"), func.count().label("pairings_known"))
        .where(Pairing.tournament_id == Tournament.id)
        .lateral()
    )
    entrants = (
        select(func.count()).select_from(TournamentEntrant).where(TournamentEntrant.tournament_id == Tournament.id)
    )
    counts = (entrants.scalar_subquery().label("entrants"), *pairings.c)
    answer = fields_of(TournamentAnswer, Tournament.__table__, Project.name.label("project"), *counts)
    return (
        select(*((*row, *counts) if row else answer))
        .select_from(Tournament)
        .join(Project, Project.id == Tournament.project_id)
        .join(pairings, true())
    )


def _schedules() -> Select[Any]:
    taken = Schedule.workflow_started_at.is_not(None).label("taken")
    firings = (null().label(name) for name in ("fired", "skipped_overlap", "missed_catchup", "next"))
    return (
        select(*fields_of(ScheduleAnswer, Schedule.__table__, Project.name.label("project"), taken, *firings))
        .select_from(Schedule)
        .join(Project, Project.id == Schedule.project_id)
        .where(Schedule.deleted_at.is_(None))
    )


# built once: building a statement costs more than running it
_ANSWERS = _counted()
_NAMED = _counted(Tournament, Project.name)
_PAIRINGS = _pairings()
_FIELD = TournamentEntrant.__table__
_ENTRANTS = select(*fields_of(Entrant, _FIELD))
_SCHEDULES = _schedules()
