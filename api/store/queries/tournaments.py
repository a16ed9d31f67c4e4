"""Tournaments, their pairings and schedules, as lists and one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Row, Select, func, select, update
from sqlalchemy.orm import Session, aliased

from api.store.errors import NotFound
from api.store.models import Pairing, Project, Schedule, Tournament, TournamentEntrant
from api.store.models.words import PairingStatus, TournamentStatus

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
    query = _named().order_by(Tournament.id.desc()).limit(limit)
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
    row = session.execute(_named().where(Tournament.id == tournament_id)).one_or_none()
    if row is None:
        raise NotFound(f"there is no tournament {tournament_id}")
    return row


def list_pairings(
    session: Session, tournament_id: str, *, after: tuple[int, int] | None, limit: int
) -> Sequence[Row[Pairing, str, str | None]]:
    """Pairings with the labels of both sides, in the order of play; `after` is the last round and pair seen."""
    first, second = aliased(TournamentEntrant), aliased(TournamentEntrant)
    query = (
        select(Pairing, first.label, second.label)
        .join(first, (first.tournament_id == Pairing.tournament_id) & (first.number == Pairing.first))
        .outerjoin(second, (second.tournament_id == Pairing.tournament_id) & (second.number == Pairing.second))
        .where(Pairing.tournament_id == tournament_id)
        .order_by(Pairing.round, Pairing.pair)
        .limit(limit)
    )
    if after is not None:
        round_, pair = after
        query = query.where((Pairing.round > round_) | ((Pairing.round == round_) & (Pairing.pair > pair)))
    return session.execute(query).all()


def list_schedules(session: Session, *, project: str | None, before: str | None, limit: int) -> Sequence[NamedSchedule]:
    """Schedules that were not deleted, the newest first."""
    query = _schedules().order_by(Schedule.id.desc()).limit(limit)
    if project is not None:
        query = query.where(Project.name == project)
    if before is not None:
        query = query.where(Schedule.id < before)
    return session.execute(query).all()


def get_schedule(session: Session, schedule_id: str) -> NamedSchedule:
    """One schedule that was not deleted."""
    row = session.execute(_schedules().where(Schedule.id == schedule_id)).one_or_none()
    if row is None:
        raise NotFound(f"there is no schedule {schedule_id}")
    return row


def unstarted_tournaments(session: Session, limit: int) -> Sequence[str]:
    """Tournaments whose workflow nobody has confirmed yet, the oldest first."""
    query = select(Tournament.id).where(Tournament.workflow_started_at.is_(None)).order_by(Tournament.id)
    return session.scalars(query.limit(limit)).all()


def mark_tournament_started(session: Session, tournament_id: str) -> None:
    """The workflow of the tournament exists."""
    session.execute(
        update(Tournament)
        .where(Tournament.id == tournament_id, Tournament.workflow_started_at.is_(None))
        .values(workflow_started_at=func.now())
    )


def _named() -> Select[Tournament, str, int, int, int]:
    mine = Pairing.tournament_id == Tournament.id
    known = select(func.count()).select_from(Pairing).where(mine)
    played = known.where(Pairing.status == PairingStatus.PLAYED)
    entrants = (
        select(func.count()).select_from(TournamentEntrant).where(TournamentEntrant.tournament_id == Tournament.id)
    )
    return select(
        Tournament, Project.name, entrants.scalar_subquery(), played.scalar_subquery(), known.scalar_subquery()
    ).join(Project, Project.id == Tournament.project_id)


def _schedules() -> Select[Schedule, str]:
    return (
        select(Schedule, Project.name)
        .join(Project, Project.id == Schedule.project_id)
        .where(Schedule.deleted_at.is_(None))
    )
