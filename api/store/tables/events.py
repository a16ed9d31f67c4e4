"""Events: the append-only stream that pages and clients follow."""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from api.store.tables.base import Base, CreatedAt, Json, Ref, RowId, not_blank

EVENTS_CHANNEL = "lanista_events"
"""The channel that is notified, with the highest new id, after every insert."""


RARE_KINDS = (
    "generation_retried",
    "evaluation_retried",
    "evaluation_dropped",
    "gate_retried",
    "weights_retried",
    "pairing.retried",
    "checkpoint.damaged",
    "tournament.withdrawn",
    "schedule.failed",
    "workflow.restarted",
    "trial.stalled",
    "trial.status",
)
"""Kinds that are looked for among very many others: what went wrong in a trial, and its changes of status."""


class Event(Base):
    """Something that happened. Ids become visible in order: the table's trigger serialises its writers."""

    __tablename__ = "events"
    __table_args__ = (
        not_blank("type"),
        Index(None, "trial_id", "id"),
        Index(
            "ix_events_rare",
            "trial_id",
            "id",
            postgresql_where=text("type IN (" + ", ".join(f"'{kind}'" for kind in RARE_KINDS) + ")"),
        ),
        # an event with a key is written once, however often it is delivered
        Index(
            "ix_events_key",
            "trial_id",
            "type",
            text("(payload ->> 'key')"),
            unique=True,
            postgresql_nulls_not_distinct=True,
            postgresql_where=text("(payload ->> 'key') IS NOT NULL"),
        ),
    )

    id: Mapped[RowId]
    trial_id: Mapped[Ref | None] = mapped_column(ForeignKey("trials.id"))
    """None for an event that concerns no single trial."""
    type: Mapped[str]
    payload: Mapped[Json] = mapped_column(server_default=text("'{}'::jsonb"))
    created_at: Mapped[CreatedAt]
