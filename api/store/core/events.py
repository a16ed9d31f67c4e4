"""Writes events.

See docs/decisions/store.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, text
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.schemas.events import EventPayload
from api.store.tables import Event


@dataclass(frozen=True, kw_only=True)
class NewEvent:
    """An event to be written; followers see it once the transaction commits."""

    payload: EventPayload
    trial_id: str | None = None
    """None for an event that concerns no single trial."""


def append_events(session: Session, events: Iterable[NewEvent]) -> None:
    """Write events. Must be the last statement of a transaction: it blocks all other writers until the end.

    The table's trigger takes the lock, draws the ids in order of commit and notifies the followers.
    """
    rows = [_row(event) for event in events]
    if rows:
        session.flush()
        session.execute(insert(Event), rows)


def append_once(session: Session, event: NewEvent, key: str) -> None:
    """Like `append_events`, but only if no event of the same trial (or of none), kind and key exists."""
    session.flush()
    session.execute(
        upsert(Event)
        .values(_row(NewEvent(trial_id=event.trial_id, payload=event.payload.model_copy(update={"key": key}))))
        .on_conflict_do_nothing(
            index_elements=[Event.trial_id, Event.type, text("(payload ->> 'key')")],
            index_where=text("(payload ->> 'key') IS NOT NULL"),
        )
    )


def is_written(session: Session, trial_id: str, kind: str, key: str) -> bool:
    """Whether the trial has an event of this kind and key."""
    written = select(Event.id).where(Event.trial_id == trial_id, Event.type == kind, Event.payload["key"].astext == key)
    return session.scalar(written.limit(1)) is not None


def _row(event: NewEvent) -> dict[str, Any]:
    return {"type": event.payload.kind, "trial_id": event.trial_id, "payload": event.payload.to_json()}
