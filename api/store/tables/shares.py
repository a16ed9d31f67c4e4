"""Shared links to one trial or tournament."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from api.store.tables.base import Base, Count, CreatedAt, EntityId, Ref, not_negative


class ShareLink(Base):
    """A link that shows one trial or tournament until it expires; only the hash of its secret is stored."""

    __tablename__ = "share_links"
    __table_args__ = (
        UniqueConstraint("token_sha256"),
        CheckConstraint("token_sha256 ~ '^[0-9a-f]{64}$'", name="token_sha256"),
        CheckConstraint("num_nonnulls(trial_id, tournament_id) = 1", name="shows_one"),
        CheckConstraint("expires_at > created_at", name="expires_later"),
        not_negative("opened"),
        Index(None, "trial_id", "id"),
        Index(None, "tournament_id", "id"),
    )

    id: Mapped[EntityId]
    token_sha256: Mapped[str]
    trial_id: Mapped[Ref | None] = mapped_column(ForeignKey("trials.id"))
    tournament_id: Mapped[Ref | None] = mapped_column(ForeignKey("tournaments.id"))
    note: Mapped[str] = mapped_column(server_default="")
    created_by: Mapped[str]
    """The name of the token that made it."""
    created_at: Mapped[CreatedAt]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    opened: Mapped[Count] = mapped_column(server_default="0")
    last_opened_at: Mapped[datetime | None]
