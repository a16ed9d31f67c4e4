"""Answers kept under Idempotency-Keys, so that a repeated request gets the first one's answer."""

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
    """Which request: a key belongs to one token and one path."""

    token_id: str
    method: str
    path: str
    key: str
    request_sha256: str


@dataclass(frozen=True, kw_only=True)
class KeptAnswer:
    """What was answered."""

    status: int
    headers: dict[str, str]
    body: bytes


def claim_key(session: Session, request: RequestKey) -> KeptAnswer | None:
    """Take the key in this transaction, or return the answer given under it.

    Of two requests at once the second waits here until the first one's transaction ends.
    """
    return None if begin_key(session, request) else find_answer(session, request, locked=True)


def find_answer(session: Session, request: RequestKey, *, locked: bool = False) -> KeptAnswer | None:
    """The answer kept under the key; a conflict if the key was used for something else."""
    row = _row(session, request, locked=locked)
    if row is None or row.status_code is None:
        return None
    return KeptAnswer(status=row.status_code, headers=dict(row.headers or {}), body=row.body or b"")


def begin_key(session: Session, request: RequestKey) -> bool:
    """Note that the request is about to take effect elsewhere, before it does; False if that was noted before."""
    begun = insert(IdempotencyKey).values(vars(request)).on_conflict_do_nothing().returning(IdempotencyKey.key)
    return session.scalar(begun) is not None


def begun_at(session: Session, request: RequestKey) -> datetime | None:
    """When this request was first about to take effect; None if it never was."""
    row = _row(session, request)
    return None if row is None else row.created_at


def release_key(session: Session, request: RequestKey) -> None:
    """Forget a request that was begun and refused: it may be mended and sent again."""
    session.execute(delete(IdempotencyKey).where(*_where(request), IdempotencyKey.status_code.is_(None)))


def keep_answer(session: Session, request: RequestKey, answer: KeptAnswer) -> None:
    """Complete a claimed key."""
    session.execute(
        update(IdempotencyKey)
        .where(*_where(request))
        .values(status_code=answer.status, headers=answer.headers, body=answer.body, completed_at=func.now())
    )


def forget_answers(session: Session, older_than: timedelta) -> None:
    """Keys live long enough for any retry, not for ever."""
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at < func.now() - older_than))


def _row(session: Session, request: RequestKey, *, locked: bool = False) -> IdempotencyKey | None:
    query = select(IdempotencyKey).where(*_where(request))
    row = session.scalars(query.with_for_update() if locked else query).one_or_none()
    if row is not None and row.request_sha256 != request.request_sha256:
        raise Conflict(f"the Idempotency-Key {request.key!r} was used for another request; take a new one")
    return row


def _where(request: RequestKey) -> tuple[ColumnElement[bool], ...]:
    return (
        IdempotencyKey.token_id == request.token_id,
        IdempotencyKey.method == request.method,
        IdempotencyKey.path == request.path,
        IdempotencyKey.key == request.key,
    )
