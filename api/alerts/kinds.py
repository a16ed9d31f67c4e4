"""Which alerts an event gives rise to: pure rules."""

from __future__ import annotations

from typing import Final

from api.schemas.enums import AlertKind
from api.schemas.events import (
    AliasMoved,
    CheckpointDamaged,
    EventPayload,
    ScheduleFailed,
    TournamentFinished,
    TournamentWithdrawn,
    TrialStalled,
    TrialStatusChanged,
    WorkflowRestarted,
)
from api.schemas.events.retries import FailedAttempt
from api.schemas.failures import FAILURE_KINDS

TARGET_REACHED: Final = "target reached"
"""How the reason of a trial begins that completed by the target of its budget."""
STALLED: Final = "stalled"
"""The kind of failure of an attempt that made no progress."""

EVENT_KINDS: Final = (
    *FAILURE_KINDS,
    TrialStatusChanged.KIND,
    AliasMoved.KIND,
    TournamentFinished.KIND,
)
"""Kinds of events that may become messages."""


def alert_kinds(event: EventPayload, *, of_schedule: bool = False) -> frozenset[AlertKind]:
    """What the event is in the words of rules; `of_schedule`: its tournament was opened by a schedule."""
    match event:
        case TrialStatusChanged():
            return _of_status(event)
        case TrialStalled():
            return frozenset({AlertKind.STALLED})
        case FailedAttempt():
            stalled = {AlertKind.STALLED} if event.failure == STALLED else set()
            return frozenset({AlertKind.SETBACK} | stalled)
        case CheckpointDamaged() | TournamentWithdrawn() | WorkflowRestarted():
            return frozenset({AlertKind.SETBACK})
        case AliasMoved():
            return frozenset({AlertKind.NEW_CHAMPION})
        case ScheduleFailed():
            return frozenset({AlertKind.SCHEDULE_RESULT})
        case TournamentFinished() if of_schedule:
            return frozenset({AlertKind.SCHEDULE_RESULT})
    return frozenset()


def _of_status(event: TrialStatusChanged) -> frozenset[AlertKind]:
    if event.from_ == event.to:  # an order asked for the status that the trial had already
        return frozenset()
    if event.to == "failed":
        return frozenset({AlertKind.TRIAL_FAILED})
    if event.to == "completed" and (event.reason or "").startswith(TARGET_REACHED):
        return frozenset({AlertKind.TARGET_REACHED})
    return frozenset()
