"""Marks a probe's workflow as started, lists probes whose workflow is not known to exist, and labels workflows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from api.store.tables import Probe, Project, Trial
from orchestrator.contracts.workflow_labels import WorkflowLabels


def unstarted_probes(session: Session, limit: int) -> Sequence[str]:
    """Probes whose workflow is not known to exist, oldest first."""
    query = select(Probe.id).where(Probe.workflow_started_at.is_(None)).order_by(Probe.id)
    return session.scalars(query.limit(limit)).all()


def mark_probe_started(session: Session, probe_id: str) -> None:
    """Record that the probe's workflow exists."""
    session.execute(
        update(Probe)
        .where(Probe.id == probe_id, Probe.workflow_started_at.is_(None))
        .values(workflow_started_at=func.now())
    )


def probe_labels(session: Session, probe_id: str) -> WorkflowLabels:
    """The labels under which Temporal's Web UI lists a probe's workflow; empty ones if there is no such probe."""
    named = session.execute(
        select(Project.name, Trial.name, Trial.id)
        .join(Probe, Probe.project_id == Project.id)
        .join(Trial, Trial.id == Probe.trial_id)
        .where(Probe.id == probe_id)
    ).one_or_none()
    if named is None:
        return WorkflowLabels()
    project, trial, trial_id = named
    return WorkflowLabels(project=project, trial=trial, trial_id=trial_id)
