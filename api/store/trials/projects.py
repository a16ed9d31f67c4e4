"""Projects: the namespaces of trials and aliases."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Row, func, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.schemas.enums import TrialKind, TrialStatus
from api.store.core.errors import NotFound
from api.store.core.ids import new_id
from api.store.tables import Project, Trial

CountedProject = Row[Project, int, int]
"""A project, the number of its trials, and of those that run."""


def ensure_project(session: Session, name: str) -> str:
    """The id of the project of this name, which is made if there is none."""
    session.execute(upsert(Project).values(id=new_id(), name=name).on_conflict_do_nothing())
    return session.scalars(select(Project.id).where(Project.name == name)).one()


def list_projects(session: Session, *, after: str | None, limit: int) -> Sequence[CountedProject]:
    """Projects by name, with the number of their trials and of those that run."""
    running = func.count(Trial.id).filter(Trial.status == TrialStatus.RUNNING)
    query = (
        select(Project, func.count(Trial.id), running)
        .outerjoin(Trial, (Trial.project_id == Project.id) & (Trial.kind == TrialKind.LEAGUE))
        .group_by(Project.id)
        .order_by(Project.name)
        .limit(limit)
    )
    if after is not None:
        query = query.where(Project.name > after)
    return session.execute(query).all()


def project_id(session: Session, name: str) -> str:
    """The project of this name."""
    found = session.scalar(select(Project.id).where(Project.name == name))
    if found is None:
        raise NotFound(f"there is no project {name!r}")
    return found
