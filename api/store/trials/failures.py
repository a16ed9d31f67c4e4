"""Reads the failure history of a trial, or of one of its players, from its events."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, or_, select, tuple_
from sqlalchemy.orm import Session

from api.schemas.enums import TrialStatus
from api.schemas.events import EventPayload, TrialStatusChanged, read_event
from api.schemas.failures import FAILURE_KINDS, RecordedFailure
from api.store.tables import Event, GateBatch, Generation
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
    return with_recovery(
        session, [_failure(row) for row in session.execute(query.order_by(Event.id.desc()).limit(limit))]
    )


def with_recovery(session: Session, failures: list[RecordedFailure]) -> list[RecordedFailure]:
    """The failures with when a later attempt succeeded: at the same generation, or at any batch of the same gate."""
    generations = {(each.player_id, each.generation) for each in failures if each.player_id and each.generation}
    gates = {each.gate_id for each in failures if each.gate_id}
    recorded: dict[tuple[str | None, int | None], list[datetime]] = {}
    for player, number, at in session.execute(
        select(Generation.player_id, Generation.number, Generation.recorded_at)
        .where(tuple_(Generation.player_id, Generation.number).in_(generations))
        .order_by(Generation.recorded_at)
    ):
        recorded.setdefault((player, number), []).append(at)
    played: dict[str | None, list[datetime]] = {}
    for gate, at in session.execute(
        select(GateBatch.gate_id, GateBatch.created_at)
        .where(GateBatch.gate_id.in_(gates))
        .order_by(GateBatch.created_at)
    ):
        played.setdefault(gate, []).append(at)
    found = []
    for each in failures:
        later = recorded.get((each.player_id, each.generation), []) if each.player_id else played.get(each.gate_id, [])
        after = next((at for at in later if at >= each.at), None)
        found.append(each.model_copy(update={"recovered_at": None if after is None else after.astimezone(UTC)}))
    return found


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
        failure=_text(event, "failure"),
        problem=_text(event, "problem") or _text(event, "reason"),
        attempts=getattr(event, "tries", None) or None,
        lost_steps=getattr(event, "lost_steps", 0),
    )


def _text(event: EventPayload, field: str) -> str | None:
    return plain_name(str(getattr(event, field, None) or "")) or None
