"""API tokens, browser sessions, idempotency keys and the audit log."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, LargeBinary, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import Scope
from api.store.tables.base import Base, CreatedAt, EntityId, EnumText, Json, Ref, RowId, Small, not_blank, one_of


class ApiToken(Base):
    """A bearer token; only its hash is stored."""

    __tablename__ = "api_tokens"
    __table_args__ = (
        UniqueConstraint("token_sha256"),
        one_of("scope", Scope),
        CheckConstraint("token_sha256 ~ '^[0-9a-f]{64}$'", name="token_sha256"),
        CheckConstraint("expires_at > created_at", name="expires_later"),
        not_blank("name"),
    )

    id: Mapped[EntityId]
    name: Mapped[str]
    token_sha256: Mapped[str]
    scope: Mapped[Scope] = mapped_column(EnumText(Scope))
    created_at: Mapped[CreatedAt]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class BrowserSession(Base):
    """A browser that signed in. Its cookie names this row and is signed: the row alone opens nothing."""

    __tablename__ = "browser_sessions"
    __table_args__ = (
        CheckConstraint("expires_at > created_at", name="expires_later"),
        CheckConstraint("ended_at >= created_at", name="ended_later"),
        Index(None, "expires_at"),
    )

    id: Mapped[EntityId]
    token_id: Mapped[Ref] = mapped_column(ForeignKey("api_tokens.id"))
    created_at: Mapped[CreatedAt]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class IdempotencyKey(Base):
    """An idempotency key and the response stored for it."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (
        CheckConstraint("method IN ('POST', 'PUT', 'PATCH', 'DELETE')", name="method"),
        CheckConstraint("length(key) BETWEEN 1 AND 255", name="key"),
        CheckConstraint("request_sha256 ~ '^[0-9a-f]{64}$'", name="request_sha256"),
        CheckConstraint("status_code BETWEEN 200 AND 599", name="status_code"),
        CheckConstraint("num_nonnulls(status_code, completed_at) IN (0, 2)", name="completed"),
        Index(None, "created_at"),
    )

    token_id: Mapped[Ref] = mapped_column(ForeignKey("api_tokens.id"), primary_key=True)
    method: Mapped[str] = mapped_column(primary_key=True)
    path: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    request_sha256: Mapped[str]
    """Distinguishes a retry from another request with the same key."""
    status_code: Mapped[Small | None]
    """None until the first request has its response."""
    headers: Mapped[Json | None]
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[CreatedAt]
    completed_at: Mapped[datetime | None]


class AuditEntry(Base):
    """One change made through the API or the command line. Append-only."""

    __tablename__ = "audit_log"
    __table_args__ = (
        not_blank("actor"),
        not_blank("action"),
        Index(None, "token_id", "id"),
        Index(None, "target", "id"),
    )

    id: Mapped[RowId]
    token_id: Mapped[Ref | None] = mapped_column(ForeignKey("api_tokens.id"))
    actor: Mapped[str]
    action: Mapped[str]
    target: Mapped[str | None]
    """What was changed, as kind/id."""
    detail: Mapped[Json] = mapped_column(server_default=text("'{}'::jsonb"))
    remote_address: Mapped[str | None]
    at: Mapped[CreatedAt]
