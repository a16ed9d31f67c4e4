"""Which checkpoints are known to be damaged: what rollback decisions say of a trial."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.tables import Decision
from league.types import DecisionKind
from orchestrator.artifacts import is_called_unreadable


def damaged_sha256(session: Session, trial_id: str) -> set[str]:
    """The hashes of all checkpoints that a rollback of this trial was about."""
    query = select(Decision.evidence["sha256"].astext).where(
        Decision.trial_id == trial_id, Decision.kind == DecisionKind.ROLLBACK
    )
    return set(session.scalars(query))


def unreadable_sha256(session: Session, trial_id: str) -> set[str]:
    """The hashes of those that are whole and cannot be read: their files look sound for ever."""
    query = select(Decision.evidence["sha256"].astext, Decision.evidence["problem"].astext).where(
        Decision.trial_id == trial_id, Decision.kind == DecisionKind.ROLLBACK
    )
    return {sha256 for sha256, problem in session.execute(query) if is_called_unreadable(sha256, problem)}
