"""Which evaluations of a trial are not over."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.tables import Tournament
from api.store.tournaments.lifecycle import FINAL

GAUNTLETS, TARGETS = "generation:%", "evaluation:%"
"""Occasions of gauntlets, each with a workflow of its own, and of games against the target, which a player's plays."""


def unfinished(session: Session, trial_id: str, occasions: str) -> list[str]:
    """The trial's tournaments of this kind that are not over."""
    query = select(Tournament.id).where(
        Tournament.trial_id == trial_id, Tournament.occasion.like(occasions), Tournament.status.not_in(FINAL)
    )
    return list(session.scalars(query.order_by(Tournament.id)))
