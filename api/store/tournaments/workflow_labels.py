"""The labels under which Temporal's Web UI lists the workflows of tournaments."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.tables import Project, Schedule, Tournament, Trial
from orchestrator.contracts.workflow_labels import WorkflowLabels


def tournament_labels(session: Session, tournament_id: str) -> WorkflowLabels:
    """The labels of a tournament's workflow; empty ones if there is no such tournament."""
    return _labels(session, Tournament, tournament_id)


def schedule_labels(session: Session, schedule_id: str) -> WorkflowLabels:
    """The labels of the workflows that a schedule starts."""
    return _labels(session, Schedule, schedule_id)


def _labels(session: Session, table: type[Tournament] | type[Schedule], row_id: str) -> WorkflowLabels:
    named = session.execute(
        select(Project.name, Trial.name, Trial.id, table.name)
        .select_from(table)
        .join(Project, Project.id == table.project_id)
        .outerjoin(Trial, Trial.id == table.trial_id)
        .where(table.id == row_id)
    ).one_or_none()
    if named is None:
        return WorkflowLabels()
    project, trial, trial_id, name = named
    return WorkflowLabels(project=project, trial=trial or "", trial_id=trial_id or "", tournament=name)
