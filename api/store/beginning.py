"""The moment a trial's workflow is seen to live, and notes that are taken once."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.clock import now
from api.store.commits import lock_trial
from api.store.events import NewEvent, append_events
from api.store.models import Event, Trial


def mark_begun(session: Session, trial_id: str) -> Trial:
    """The trial, whose workflow evidently runs: reconciliation need not look after it any more."""
    trial = lock_trial(session, trial_id)
    if trial.workflow_started_at is None:
        trial.workflow_started_at = now(session)
    return trial


def note_once(session: Session, trial_id: str, key: str, kind: str, payload: dict[str, Any]) -> None:
    """An event of the trial, unless one of this kind and key is there already."""
    lock_trial(session, trial_id)
    known = session.scalar(
        select(Event.id)
        .where(Event.trial_id == trial_id, Event.type == kind, Event.payload["key"].astext == key)
        .limit(1)
    )
    if known is None:
        append_events(session, [NewEvent(type=kind, trial_id=trial_id, payload={**payload, "key": key})])
