"""Tournaments, their pairings and schedules, as lists and one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Row, Select, func, select, true, tuple_
from sqlalchemy.orm import Session, aliased

from api.schemas.enums import PairingStatus, TournamentStatus
from api.store.core.errors import NotFound
from api.store.core.records import Record, plain, read_records
from api.store.tables import Pairing, Project, Schedule, Tournament, TournamentEntrant

NamedTournament = Row[Tournament, str, int, int, int]
"""The tournament, its project's name, its entrants, and its pairings played and known so far."""
NamedSchedule = Row[Schedule, str]


@dataclass(frozen=True, kw_only=True)
class TournamentFilter:
    """Which tournaments."""

    project: str | None = None
    trial_id: str | None = None
    schedule_id: str | None = None
    statuses: tuple[TournamentStatus, ...] = ()


def list_tournaments(
    session: Session, which: TournamentFilter, *, before: str | None, limit: int
) -> Sequence[NamedTournament]:
    """Tournaments, the newest first."""
    query = _NAMED.order_by(Tournament.id.desc()).limit(limit)
    if which.project is not None:
        query = query.where(Project.name == which.project)
    if which.trial_id is not None:
        query = query.where(Tournament.trial_id == which.trial_id)
    if which.schedule_id is not None:
        query = query.where(Tournament.schedule_id == which.schedule_id)
    if which.statuses:
        query = query.where(Tournament.status.in_(which.statuses))
    if before is not None:
        query = query.where(Tournament.id < before)
    return session.execute(query).all()


def get_tournament(session: Session, tournament_id: str) -> NamedTournament:
    """One tournament."""
    row = session.execute(_NAMED.where(Tournament.id == tournament_id)).one_or_none()
    if row is None:
        raise NotFound(f"there is no tournament {tournament_id}")
    return row


def list_pairings(
    session: Session, tournament_id: str, *, after: tuple[int, int] | None, limit: int
) -> Sequence[Row[Pairing, str, str | None]]:
    """Pairings with the labels of both sides, in the order of play; `after` is the last round and pair seen."""
    query = _PAIRINGS.where(Pairing.tournament_id == tournament_id).limit(limit)
    if after is not None:
        query = query.where(tuple_(Pairing.round, Pairing.pair) > after)
    return session.execute(query).all()


def list_schedules(session: Session, *, project: str | None, before: str | None, limit: int) -> Sequence[NamedSchedule]:
    """Schedules that were not deleted, the newest first."""
    query = _SCHEDULES.order_by(Schedule.id.desc()).limit(limit)
    if project is not None:
        query = query.where(Project.name == project)
    if before is not None:
        query = query.where(Schedule.id < before)
    return session.execute(query).all()


def get_schedule(session: Session, schedule_id: str) -> NamedSchedule:
    """One schedule that was not deleted."""
    row = session.execute(_SCHEDULES.where(Schedule.id == schedule_id)).one_or_none()
    if row is None:
        raise NotFound(f"there is no schedule {schedule_id}")
    return row


def list_entrants(session: Session, tournament_id: str, *, after: int | None, limit: int) -> list[Record]:
    """The field, by number."""
    query = _ENTRANTS.where(_FIELD.c.tournament_id == tournament_id)
    if after is not None:
        query = query.where(_FIELD.c.number > after)
    return read_records(session, query.order_by(_FIELD.c.number).limit(limit))


def require_tournament(session: Session, tournament_id: str) -> None:
    """NotFound where there is no such tournament; cheaper than to read it."""
    if session.scalar(select(Tournament.id).where(Tournament.id == tournament_id)) is None:
        raise NotFound(f"there is no tournament {tournament_id}")


def _pairings() -> Select[Pairing, str, str | None]:
    first, second = aliased(TournamentEntrant), aliased(TournamentEntrant)
    return (
        select(Pairing, first.label, second.label)
        .join(first, (first.tournament_id == Pairing.tournament_id) & (first.number == Pairing.first))
        .outerjoin(second, (second.tournament_id == Pairing.tournament_id) & (second.number == Pairing.second))
        .order_by(Pairing.round, Pairing.pair)
    )


def _named() -> Select[Tournament, str, int, int, int]:
    played = func.count().filter(Pairing.status == PairingStatus.PLAYED)
    pairings = (
        select(played.label("played"), func.count().label("known"))
        .where(Pairing.tournament_id == Tournament.id)
        .lateral()
    )
    entrants = (
        select(func.count()).select_from(TournamentEntrant).where(TournamentEntrant.tournament_id == Tournament.id)
    )
    return (
        select(Tournament, Project.name, entrants.scalar_subquery(), pairings.c.played, pairings.c.known)
        .join(Project, Project.id == Tournament.project_id)
        .join(pairings, true())
    )


# built once: a statement costs more to put together than to run
_NAMED = _named()
_PAIRINGS = _pairings()
_FIELD = TournamentEntrant.__table__
_ENTRANTS = select(*plain([_FIELD.c.number, _FIELD.c.label, _FIELD.c.version_id]))
_SCHEDULES = (
    select(Schedule, Project.name).join(Project, Project.id == Schedule.project_id).where(Schedule.deleted_at.is_(None))
)
