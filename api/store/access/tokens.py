"""API tokens: created, found by hash, revoked; never deleted."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, or_, select, text, update
from sqlalchemy.orm import Session

from api.schemas.enums import Scope
from api.schemas.installation.tokens import Token
from api.store.core.errors import Conflict, NotFound
from api.store.core.ids import new_id
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import ApiToken


def find_token(session: Session, sha256: str) -> ApiToken | None:
    """The token with this hash, also if it is revoked or expired."""
    return session.scalars(select(ApiToken).where(ApiToken.token_sha256 == sha256)).one_or_none()


def token_by_id(session: Session, token_id: str) -> ApiToken | None:
    return session.get(ApiToken, token_id)


def touch_token(session: Session, token_id: str) -> None:
    """Record that the token was used, at most once a minute to save a write per request."""
    stale = or_(ApiToken.last_used_at.is_(None), ApiToken.last_used_at < func.now() - text("interval '1 minute'"))
    session.execute(update(ApiToken).where(ApiToken.id == token_id, stale).values(last_used_at=func.now()))


def add_token(
    session: Session, *, name: str, scope: Scope, sha256: str, expires_at: datetime | None = None
) -> ApiToken:
    """Store a new token by its hash."""
    token = ApiToken(id=new_id(), name=name, scope=scope, token_sha256=sha256, expires_at=expires_at)
    session.add(token)
    session.flush()
    session.refresh(token)
    return token


def add_first_admin(session: Session, *, name: str, sha256: str) -> ApiToken | None:
    """Store an admin's token if no valid one exists; None if there is one. Concurrent calls store one."""
    session.execute(text("LOCK TABLE api_tokens IN SHARE ROW EXCLUSIVE MODE"))
    valid = ApiToken.revoked_at.is_(None), or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > func.now())
    if session.scalar(select(ApiToken.id).where(ApiToken.scope == Scope.ADMIN, *valid).limit(1)) is not None:
        return None
    known = find_token(session, sha256)
    if known is not None:
        raise Conflict(f"this token was revoked or has expired ({known.id}): choose another")
    return add_token(session, name=name, scope=Scope.ADMIN, sha256=sha256)


def revoke_token(session: Session, token_id: str) -> ApiToken:
    """Revoke a token. Revoking it again changes nothing."""
    token = session.get(ApiToken, token_id, with_for_update=True)
    if token is None:
        raise NotFound(f"there is no token {token_id}")
    if token.revoked_at is None:
        token.revoked_at = session.scalars(select(func.now())).one()
    return token


def list_tokens(session: Session, *, after: str | None, limit: int) -> list[Record]:
    """Tokens, newest first, revoked ones included."""
    query = _TOKENS.order_by(ApiToken.id.desc()).limit(limit)
    if after is not None:
        query = query.where(ApiToken.id < after)
    return read_records(session, query)


def read_token(session: Session, token_id: str) -> Record:
    """One token, without its hash."""
    session.flush()
    return read_records(session, _TOKENS.where(ApiToken.id == token_id))[0]


_TOKENS = select(*fields_of(Token, ApiToken.__table__))
