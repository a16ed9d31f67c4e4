"""Trials and projects, as lists and one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Row, Select, select
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus, TrialKind, TrialStatus
from api.store.core.errors import NotFound
from api.store.tables import Player, Project, Trial
from league.types import Role

NamedTrial = Row[Trial, str]


@dataclass(frozen=True, kw_only=True)
class TrialFilter:
    """Which trials."""

    project: str | None = None
    name: str | None = None
    statuses: tuple[TrialStatus, ...] = ()
    archived: bool = False


def list_trials(session: Session, which: TrialFilter, *, before: str | None, limit: int) -> Sequence[NamedTrial]:
    """Trials with their projects' names, the newest first."""
    query = _NAMED.where(Trial.kind == TrialKind.LEAGUE).order_by(Trial.id.desc()).limit(limit)
    if which.project is not None:
        query = query.where(Project.name == which.project)
    if which.name is not None:
        query = query.where(Trial.name == which.name)
    if which.statuses:
        query = query.where(Trial.status.in_(which.statuses))
    if not which.archived:
        query = query.where(Trial.archived_at.is_(None))
    if before is not None:
        query = query.where(Trial.id < before)
    return session.execute(query).all()


def get_trial(session: Session, trial_id: str) -> NamedTrial:
    """One trial with its project's name."""
    row = session.execute(_NAMED.where(Trial.id == trial_id)).one_or_none()
    if row is None:
        raise NotFound(f"there is no trial {trial_id}")
    return row


def require_trial(session: Session, trial_id: str) -> int:
    """The trial's newest commit, cheaply; NotFound where there is no such trial."""
    commit = session.scalar(select(Trial.last_commit).where(Trial.id == trial_id))
    if commit is None:
        raise NotFound(f"there is no trial {trial_id}")
    return commit


def learners(session: Session, trial_id: str) -> Sequence[Row[str, str, int]]:
    """Id, name and newest generation of each player that may be learning at this moment."""
    running = (TrialStatus.RUNNING, TrialStatus.PAUSING, TrialStatus.STOPPING)
    learning = [role for role in Role if role.learns]
    return session.execute(
        select(Player.id, Player.name, Player.generation)
        .join(Trial, Trial.id == Player.trial_id)
        .where(Trial.id == trial_id, Trial.status.in_(running))
        .where(Player.role.in_(learning), Player.status == PlayerStatus.ACTIVE)
    ).all()


def _named() -> Select[Trial, str]:
    return select(Trial, Project.name).join(Project, Project.id == Trial.project_id)


_NAMED = _named()
