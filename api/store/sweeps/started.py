"""Marks a sweep's workflow as started, lists sweeps whose workflow is not known to exist, and labels workflows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from api.store.tables import Project, Sweep
from orchestrator.contracts.workflow_labels import WorkflowLabels


def unstarted_sweeps(session: Session, limit: int) -> Sequence[str]:
    """Sweeps whose workflow is not known to exist, oldest first."""
    query = select(Sweep.id).where(Sweep.workflow_started_at.is_(None)).order_by(Sweep.id)
    return session.scalars(query.limit(limit)).all()


def mark_sweep_started(session: Session, sweep_id: str) -> None:
    """Record that the sweep's workflow exists."""
    session.execute(
        update(Sweep)
        .where(Sweep.id == sweep_id, Sweep.workflow_started_at.is_(None))
        .values(workflow_started_at=func.now())
    )


def sweep_labels(session: Session, sweep_id: str) -> WorkflowLabels:
    """The labels under which Temporal's Web UI lists a sweep's workflow; empty ones if there is no such sweep."""
    named = session.execute(
        select(Project.name, Sweep.name).join(Project, Project.id == Sweep.project_id).where(Sweep.id == sweep_id)
    ).one_or_none()
    if named is None:
        return WorkflowLabels()
    project, name = named
    return WorkflowLabels(project=project, sweep=name)
