"""Reads the failure history of a trial, or of one of its players, from its events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, or_, select
from sqlalchemy.orm import Session

from api.schemas.enums import TrialStatus
from api.schemas.events import EventPayload, TrialStatusChanged, read_event
from api.schemas.failures import FAILURE_KINDS, RecordedFailure
from api.store.tables import Event
from api.store.trials.outcomes import with_outcomes
from orchestrator.user_code.code_archives import plain_name


def list_failures(
    session: Session, trial_id: str, *, player_id: str | None = None, before: int | None = None, limit: int
) -> list[RecordedFailure]:
    """What went wrong, the newest first; `player_id`: of this player only."""
    query = select(Event.id, Event.type, Event.payload, Event.created_at).where(_failed(trial_id))
    if player_id is not None:
        # workflows write the id as `player`, others as `player_id`
        query = query.where(
            or_(Event.payload["player_id"].astext == player_id, Event.payload["player"].astext == player_id)
        )
    if before is not None:
        query = query.where(Event.id < before)
    found = [_failure(row) for row in session.execute(query.order_by(Event.id.desc()).limit(limit))]
    return with_outcomes(session, trial_id, found)


def count_failures(session: Session, trial_id: str, since: datetime) -> int:
    """How often something went wrong since a moment."""
    count = select(func.count()).select_from(Event).where(_failed(trial_id), Event.created_at >= since)
    return session.scalar(count) or 0


def _failed(trial_id: str) -> ColumnElement[bool]:
    ended = Event.type == TrialStatusChanged.KIND, Event.payload["to"].astext == TrialStatus.FAILED.value
    # the list of kinds is that of an index, or part of it
    kinds = Event.type.in_((*FAILURE_KINDS, TrialStatusChanged.KIND))
    return and_(Event.trial_id == trial_id, kinds, or_(Event.type != TrialStatusChanged.KIND, and_(*ended)))


def _failure(row: Row[int, str, dict[str, Any], datetime]) -> RecordedFailure:
    event = read_event(row.type, row.payload)
    return RecordedFailure(
        id=row.id,
        at=row.created_at,
        type=row.type,
        text=plain_name(event.text),
        player_id=_text(event, "player_id"),
        player=_text(event, "player"),
        generation=getattr(event, "generation", None),
        gate_id=_text(event, "gate_id"),
        tournament_id=_text(event, "tournament_id"),
        round=getattr(event, "round", None),
        pair=getattr(event, "pair", None),
        version_id=_text(event, "version_id"),
        verdict=_text(event, "verdict"),
        failure=_text(event, "failure"),
        problem=_text(event, "problem") or _text(event, "reason"),
        attempts=getattr(event, "tries", None) or None,
        lost_steps=getattr(event, "lost_steps", 0),
    )


def _text(event: EventPayload, field: str) -> str | None:
    return plain_name(str(getattr(event, field, None) or "")) or None
