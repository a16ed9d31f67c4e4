"""Marks a trial's workflow as started, and lists the trials whose workflow is not known to exist.

See docs/decisions/trials.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from api.store.tables import Trial


def unstarted_trials(session: Session, limit: int) -> Sequence[str]:
    """Trials whose workflow is not known to exist, oldest first; a sweep starts its trials itself."""
    unstarted = Trial.workflow_started_at.is_(None) & Trial.sweep_id.is_(None)
    query = select(Trial.id).where(unstarted).order_by(Trial.id).limit(limit)
    return session.scalars(query).all()


def mark_started(session: Session, trial_id: str) -> None:
    """Record that the trial's workflow exists."""
    session.execute(
        update(Trial)
        .where(Trial.id == trial_id, Trial.workflow_started_at.is_(None))
        .values(workflow_started_at=func.now())
    )
