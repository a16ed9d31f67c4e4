"""Reads what happened in a trial that is worth telling later: promotions, snapshots, resets, its starts and ends."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.events import (
    AliasMoved,
    GateFinished,
    PlayerReset,
    PlayerRolledBack,
    PlayerSnapshot,
    TrialCreated,
    TrialForked,
    TrialStatusChanged,
    read_event,
)
from api.store.tables import Event

KINDS = tuple(
    event.KIND
    for event in (
        AliasMoved,
        GateFinished,
        PlayerReset,
        PlayerRolledBack,
        PlayerSnapshot,
        TrialCreated,
        TrialForked,
        TrialStatusChanged,
    )
)


class Milestone(NamedTuple):
    """One of them, as a sentence."""

    at: datetime
    level: str
    text: str


def milestones(session: Session, trial_id: str, limit: int) -> list[Milestone]:
    """The newest first."""
    rows = session.execute(
        select(Event.type, Event.payload, Event.created_at)
        .where(Event.trial_id == trial_id, Event.type.in_(KINDS))
        .order_by(Event.id.desc())
        .limit(limit)
    )
    found = ((read_event(row.type, row.payload), row.created_at) for row in rows)
    return [Milestone(at=at, level=event.level, text=event.text) for event, at in found]
