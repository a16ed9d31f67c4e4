"""The moment a trial's workflow is seen to live, and notes that are taken once."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from api.schemas.enums import TrialStatus
from api.store.core.clock import now
from api.store.core.commits import lock_trial
from api.store.core.errors import NotFound
from api.store.core.events import NewEvent, append_once
from api.store.tables import Trial
from api.store.trials.create import change_status


def mark_begun(session: Session, trial_id: str) -> Trial:
    """The trial, whose workflow evidently runs: reconciliation need not look after it any more."""
    trial = lock_trial(session, trial_id)
    if trial.workflow_started_at is None:
        trial.workflow_started_at = now(session)
    return trial


def withdraw_trial(session: Session, trial_id: str, reason: str, *, order: str | None = None) -> bool:
    """Stop a trial that has not begun, where no workflow could be told to; False if it has begun or ended."""
    if lock_trial(session, trial_id).status is not TrialStatus.PENDING:
        return False
    change_status(session, trial_id, TrialStatus.STOPPED, reason, order=order)
    return True


def note_once(session: Session, trial_id: str, key: str, kind: str, payload: dict[str, Any]) -> None:
    """An event of the trial, unless one of this kind and key is there already."""
    if session.get(Trial, trial_id) is None:
        raise NotFound(f"there is no trial {trial_id}")
    append_once(session, NewEvent(type=kind, trial_id=trial_id, payload=payload), key)
