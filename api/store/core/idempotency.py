"""Idempotency keys: a retry of a request gets the response that was stored for the first one.

See docs/decisions/rest-and-idempotency.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from api.store.core.errors import Conflict
from api.store.tables import IdempotencyKey


@dataclass(frozen=True, kw_only=True)
class RequestKey:
    """A request with an idempotency key, which is unique for a token, a method and a path.

    The hash tells a retry from another request under the same key.
    """

    token_id: str
    method: str
    path: str
    key: str
    request_sha256: str


@dataclass(frozen=True, kw_only=True)
class StoredResponse:
    """A response, as it was sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def claim(session: Session, request: RequestKey) -> StoredResponse | None:
    """Reserve the key in this transaction, or return the response stored for it.

    Of two requests at once the second waits here until the first one's transaction ends.
    """
    return None if reserve(session, request) else find_response(session, request, locked=True)


def find_response(session: Session, request: RequestKey, *, locked: bool = False) -> StoredResponse | None:
    """The response stored for the key; Conflict if the key was used for another request."""
    row = _row(session, request, locked=locked)
    if row is None or row.status_code is None:
        return None
    return StoredResponse(status=row.status_code, headers=dict(row.headers or {}), body=row.body or b"")


def reserve(session: Session, request: RequestKey) -> bool:
    """Reserve the key before the request takes effect elsewhere; False if it is reserved already."""
    reserved = insert(IdempotencyKey).values(vars(request)).on_conflict_do_nothing().returning(IdempotencyKey.key)
    return session.scalar(reserved) is not None


def reserved_at(session: Session, request: RequestKey) -> datetime | None:
    """When the key was first reserved; None if it is not."""
    row = _row(session, request)
    return None if row is None else row.created_at


def release(session: Session, request: RequestKey) -> None:
    """Give up the reservation of a request that was refused: it may be corrected and sent again."""
    session.execute(delete(IdempotencyKey).where(*_where(request), IdempotencyKey.status_code.is_(None)))


def store_response(session: Session, request: RequestKey, response: StoredResponse) -> None:
    """Store the response for a key that was claimed."""
    session.execute(
        update(IdempotencyKey)
        .where(*_where(request))
        .values(status_code=response.status, headers=response.headers, body=response.body, completed_at=func.now())
    )


def delete_keys(session: Session, older_than: timedelta) -> None:
    """Delete keys that are older than any retry."""
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < func.now() - older_than))


def _row(session: Session, request: RequestKey, *, locked: bool = False) -> IdempotencyKey | None:
    query = select(IdempotencyKey).where(*_where(request))
    row = session.scalars(query.with_for_update() if locked else query).one_or_none()
    if row is not None and row.request_sha256 != request.request_sha256:
        raise Conflict(f"the Idempotency-Key {request.key!r} was used for another request; use a new one")
    return row


def _where(request: RequestKey) -> tuple[ColumnElement[bool], ...]:
    return (
        IdempotencyKey.token_id == request.token_id,
        IdempotencyKey.method == request.method,
        IdempotencyKey.path == request.path,
        IdempotencyKey.key == request.key,
    )
