"""Finds the tournaments that the firings of a schedule created."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.tables import Tournament
from api.store.tournaments.schedules import UNFINISHED


def firing_has_tournament(session: Session, occasion: str) -> bool:
    """Whether a tournament was created for this firing."""
    return session.scalar(select(Tournament.id).where(Tournament.occasion == occasion)) is not None


def unfinished_tournament(session: Session, schedule_id: str) -> str | None:
    """The id of a tournament of this schedule that has not ended, if there is one."""
    return session.scalars(
        select(Tournament.id).where(Tournament.schedule_id == schedule_id, Tournament.status.in_(UNFINISHED))
    ).first()
