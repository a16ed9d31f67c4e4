"""Projects: the namespaces of trials and aliases."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.schemas.enums import TrialKind, TrialStatus
from api.schemas.installation.projects import Project as ProjectAnswer
from api.store.core.errors import NotFound
from api.store.core.ids import new_id
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import Project, Trial


def ensure_project(session: Session, name: str) -> str:
    """The id of the project of this name, created if there is none."""
    session.execute(upsert(Project).values(id=new_id(), name=name).on_conflict_do_nothing())
    return session.scalars(select(Project.id).where(Project.name == name)).one()


def list_projects(session: Session, *, after: str | None, limit: int) -> list[Record]:
    """Projects by name, with the number of their trials and of those that run."""
    query = _projects().order_by(Project.name).limit(limit)
    if after is not None:
        query = query.where(Project.name > after)
    return read_records(session, query)


def read_project(session: Session, name: str) -> Record:
    """One project (schema Project); NotFound if there is none of this name."""
    found = read_records(session, _projects().where(Project.name == name))
    if not found:
        raise NotFound(f"there is no project {name!r}")
    return found[0]


def _projects() -> Select[Any]:
    trials = func.count(Trial.id)
    running = trials.filter(Trial.status == TrialStatus.RUNNING)
    return (
        select(*fields_of(ProjectAnswer, Project.__table__, trials.label("trials"), running.label("running")))
        .select_from(Project)
        .outerjoin(Trial, (Trial.project_id == Project.id) & (Trial.kind == TrialKind.LEAGUE))
        .group_by(Project.id)
    )


def project_id(session: Session, name: str) -> str:
    """The id of the project of this name; NotFound if there is none."""
    found = session.scalar(select(Project.id).where(Project.name == name))
    if found is None:
        raise NotFound(f"there is no project {name!r}")
    return found
