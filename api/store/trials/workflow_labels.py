"""The labels under which Temporal's Web UI lists a trial's workflow."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.tables import Project, Trial
from orchestrator.contracts.workflow_labels import WorkflowLabels


def trial_labels(session: Session, trial_id: str) -> WorkflowLabels:
    """The labels of a trial's workflow; empty ones if there is no such trial."""
    named = session.execute(
        select(Project.name, Trial.name).join(Project, Project.id == Trial.project_id).where(Trial.id == trial_id)
    ).one_or_none()
    if named is None:
        return WorkflowLabels()
    project, trial = named
    return WorkflowLabels(project=project, trial=trial, trial_id=trial_id)
