"""Marks a tournament's workflow as started, and lists the tournaments whose workflow is not known to exist."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from api.store.tables import Tournament


def unstarted_tournaments(session: Session, limit: int) -> Sequence[str]:
    """Tournaments whose workflow is not known to exist, oldest first."""
    query = select(Tournament.id).where(Tournament.workflow_started_at.is_(None)).order_by(Tournament.id)
    return session.scalars(query.limit(limit)).all()


def mark_tournament_started(session: Session, tournament_id: str) -> None:
    """Record that the tournament's workflow exists."""
    session.execute(
        update(Tournament)
        .where(Tournament.id == tournament_id, Tournament.workflow_started_at.is_(None))
        .values(workflow_started_at=func.now())
    )
