"""A trial's status: the transitions that are allowed, and the event that reports each of them."""

from __future__ import annotations

from sqlalchemy.orm import Session

from api.schemas.enums import TrialStatus
from api.schemas.events import TrialStatusChanged
from api.store.core.clock import now
from api.store.core.commits import lock_trial
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events, append_once, is_written
from api.store.tables import Trial

_ENDS = frozenset({TrialStatus.STOPPING, TrialStatus.STOPPED, TrialStatus.COMPLETED, TrialStatus.FAILED})
TRANSITIONS: dict[TrialStatus, frozenset[TrialStatus]] = {
    TrialStatus.PENDING: frozenset({TrialStatus.RUNNING, TrialStatus.PAUSED}) | _ENDS,
    TrialStatus.RUNNING: frozenset({TrialStatus.PAUSING, TrialStatus.PAUSED}) | _ENDS,
    TrialStatus.PAUSING: frozenset({TrialStatus.PAUSED, TrialStatus.RUNNING}) | _ENDS,
    TrialStatus.PAUSED: frozenset({TrialStatus.RUNNING}) | _ENDS,
    TrialStatus.STOPPING: _ENDS - {TrialStatus.STOPPING},
    TrialStatus.STOPPED: frozenset(),
    TrialStatus.COMPLETED: frozenset(),
    TrialStatus.FAILED: frozenset(),
}
"""The allowed transitions; the last three statuses are final."""


def change_status(
    session: Session, trial_id: str, status: TrialStatus, reason: str | None = None, *, order: str | None = None
) -> Trial:
    """Change the trial's status. The present status changes nothing; a status it cannot reach is a Conflict.

    The event names the order that asked for it, even if nothing changed: see `was_carried_out`.
    """
    trial = lock_trial(session, trial_id)
    if trial.status is status:
        if order is not None:
            _append_status_event(session, trial, status, reason, order)
        return trial
    if status not in TRANSITIONS[trial.status]:
        allowed = ", ".join(sorted(TRANSITIONS[trial.status])) or "nothing, it is final"
        raise Conflict(f"trial {trial.name!r} is {trial.status} and cannot become {status}; allowed: {allowed}")
    moment = now(session)
    before, trial.status, trial.status_reason = trial.status, status, reason
    trial.revision += 1
    if status is TrialStatus.RUNNING and trial.started_at is None:
        trial.started_at = moment
    if status.is_final:
        trial.finished_at = moment
    _append_status_event(session, trial, before, reason, order)
    return trial


def stop_pending_trial(session: Session, trial_id: str, reason: str, *, order: str | None = None) -> bool:
    """Stop a trial whose workflow was never started; False if the trial has started or ended."""
    if lock_trial(session, trial_id).status is not TrialStatus.PENDING:
        return False
    change_status(session, trial_id, TrialStatus.STOPPED, reason, order=order)
    return True


def was_carried_out(session: Session, trial_id: str, order: str) -> bool:
    """Whether an order to change the trial's status has been carried out, whatever the status is by now."""
    return is_written(session, trial_id, TrialStatusChanged.KIND, order)


def _append_status_event(
    session: Session, trial: Trial, before: TrialStatus, reason: str | None, order: str | None
) -> None:
    payload = TrialStatusChanged(from_=before, to=trial.status, reason=reason)
    event = NewEvent(trial_id=trial.id, payload=payload)
    if order is None:
        append_events(session, [event])
    else:
        append_once(session, event, order)
