"""Evaluations of a trial that are not over."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import TournamentPurpose
from api.store.tables import Tournament
from api.store.tournaments.lifecycle import FINAL


def unfinished_evaluations(session: Session, trial_id: str, purpose: TournamentPurpose) -> list[str]:
    """The ids of the trial's evaluations of this kind that are not over."""
    query = select(Tournament.id).where(
        Tournament.trial_id == trial_id, Tournament.purpose == purpose, Tournament.status.not_in(FINAL)
    )
    return list(session.scalars(query.order_by(Tournament.id)))
