"""Alerts: channels, the rules that choose events for them, and the outbox of messages."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ARRAY, CheckConstraint, ForeignKey, Index, LargeBinary, Text, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import AlertKind, ChannelKind, DeliveryStatus
from api.store.tables.base import (
    Base,
    Count,
    CreatedAt,
    EntityId,
    EnumText,
    Ref,
    not_blank,
    not_negative,
    one_of,
)

KINDS = ", ".join(f"'{kind.value}'" for kind in AlertKind)


class AlertChannel(Base):
    """Where messages go, and up to which event they were written."""

    __tablename__ = "alert_channels"
    __table_args__ = (
        UniqueConstraint("name"),
        one_of("kind", ChannelKind),
        not_blank("name"),
        not_negative("failures", "cursor"),
    )

    id: Mapped[EntityId]
    name: Mapped[str]
    kind: Mapped[ChannelKind] = mapped_column(EnumText(ChannelKind))
    target: Mapped[str]
    """What is shown of the address: a host, or recipients."""
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    """Address and secret, encrypted with the installation's key."""
    enabled: Mapped[bool] = mapped_column(server_default=text("true"))
    cursor: Mapped[int]
    """The newest event that was looked at: moved in the transaction that writes the messages."""
    failures: Mapped[Count] = mapped_column(server_default="0")
    """Attempts that failed since the last success."""
    last_error: Mapped[str | None]
    last_error_at: Mapped[datetime | None]
    last_success_at: Mapped[datetime | None]
    blocked_until: Mapped[datetime | None]
    """No message of the channel is tried before: a receiver that is down is not called for each of them."""
    created_at: Mapped[CreatedAt]


class AlertRule(Base):
    """Which events become messages of a channel."""

    __tablename__ = "alert_rules"
    __table_args__ = (
        CheckConstraint(f"kinds <@ ARRAY[{KINDS}] AND cardinality(kinds) > 0", name="kinds"),
        Index(None, "channel_id"),
    )

    id: Mapped[EntityId]
    channel_id: Mapped[Ref] = mapped_column(ForeignKey("alert_channels.id", ondelete="CASCADE"))
    kinds: Mapped[list[str]] = mapped_column(ARRAY(Text))
    project_id: Mapped[Ref | None] = mapped_column(ForeignKey("projects.id"))
    trial_id: Mapped[Ref | None] = mapped_column(ForeignKey("trials.id"))
    after_event: Mapped[int]
    """The newest event when the rule was made: it concerns later ones only."""
    created_at: Mapped[CreatedAt]


class AlertDelivery(Base):
    """A message to a channel: the outbox. Its id and body are the same in every attempt."""

    __tablename__ = "alert_deliveries"
    __table_args__ = (
        # an event becomes one message of a channel, whatever happens
        UniqueConstraint("channel_id", "event_id"),
        one_of("status", DeliveryStatus),
        CheckConstraint(f"kind IN ({KINDS}, 'test')", name="kind"),
        CheckConstraint("(status = 'delivered') = (delivered_at IS NOT NULL)", name="delivered"),
        not_negative("attempts"),
        Index(
            "ix_alert_deliveries_due",
            "channel_id",
            "next_attempt_at",
            "id",
            postgresql_where=text("status = 'pending'"),
        ),
        Index(None, "created_at"),
    )

    id: Mapped[EntityId]
    channel_id: Mapped[Ref] = mapped_column(ForeignKey("alert_channels.id", ondelete="CASCADE"))
    event_id: Mapped[int | None] = mapped_column(ForeignKey("events.id"))
    """None for a test message."""
    kind: Mapped[str]
    text: Mapped[str]
    body: Mapped[str]
    """JSON, as text: an attempt sends the bytes of the one before."""
    status: Mapped[DeliveryStatus] = mapped_column(EnumText(DeliveryStatus), server_default="pending")
    attempts: Mapped[Count] = mapped_column(server_default="0")
    next_attempt_at: Mapped[datetime] = mapped_column(server_default=func.now())
    """Also the end of an attempt's lease: a sender that dies leaves the message to others then."""
    last_error: Mapped[str | None]
    created_at: Mapped[CreatedAt]
    delivered_at: Mapped[datetime | None]
