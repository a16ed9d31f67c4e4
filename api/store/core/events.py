"""Appending to and reading from the events table.

See docs/decisions/append-only-and-audit.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert, select, text
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.store.tables import Event


@dataclass(frozen=True, kw_only=True)
class NewEvent:
    """Something to tell the followers, once the transaction commits."""

    type: str
    trial_id: str | None = None
    payload: dict[str, Any] = field(default_factory=dict)


def append_events(session: Session, events: Iterable[NewEvent]) -> None:
    """Write events; the last statement of a transaction, for it holds up every other writer until the end.

    The table's trigger takes the lock, draws the ids in order of commit and notifies the followers.
    """
    rows = [{"type": event.type, "trial_id": event.trial_id, "payload": event.payload} for event in events]
    if rows:
        session.flush()
        session.execute(insert(Event), rows)


def append_once(session: Session, event: NewEvent, key: str) -> None:
    """Write an event unless the trial, or no trial, has one of its type and key already; `append_events` otherwise."""
    session.flush()
    session.execute(
        upsert(Event)
        .values(type=event.type, trial_id=event.trial_id, payload={**event.payload, "key": key})
        .on_conflict_do_nothing(
            index_elements=[Event.trial_id, Event.type, text("(payload ->> 'key')")],
            index_where=text("(payload ->> 'key') IS NOT NULL"),
        )
    )


def is_told(session: Session, trial_id: str, kind: str, key: str) -> bool:
    """Whether the trial has an event of this type and key."""
    told = select(Event.id).where(Event.trial_id == trial_id, Event.type == kind, Event.payload["key"].astext == key)
    return session.scalar(told.limit(1)) is not None


def events_after(session: Session, after: int, *, trial_id: str | None = None, limit: int = 500) -> Sequence[Event]:
    """The next events after an id, of one trial or of all; following by the last id seen misses none."""
    query = select(Event).where(Event.id > after).order_by(Event.id).limit(limit)
    if trial_id is not None:
        query = query.where(Event.trial_id == trial_id)
    return session.scalars(query).all()
