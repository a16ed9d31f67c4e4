"""One-time codes are used once: their numbers are kept among the keys of requests that were answered."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from sqlalchemy.orm import Session

from api.store.access.tokens import token_by_id
from api.store.core.clock import now
from api.store.core.idempotency import RequestKey, StoredResponse, claim, reserved_at, store_response

REPEATABLE = timedelta(seconds=60)
"""How long whoever used a code may use it again under the same Idempotency-Key, should the answer have been lost."""
SHORTEST_SECRET = 20
"""Characters of an Idempotency-Key that nobody guesses within that time; a UUID has 36."""


def use_code(session: Session, token_id: str, number: str, idempotency_key: str | None = None) -> bool:
    """Take a code in this transaction; False if it was taken before, or its token is gone.

    The same request may take it again for a minute: only who sent it knows both its code and its key. Keys are kept
    for an hour at least, which is longer than a code is good for.
    """
    if token_by_id(session, token_id) is None:
        return False
    used = RequestKey(
        token_id=token_id, method="POST", path="/api/v1/session", key=number, request_sha256=_sha256(number)
    )
    mark = _mark(idempotency_key)
    before = claim(session, used)
    if before is not None:
        since = reserved_at(session, used)
        soon = since is not None and now(session) - since <= REPEATABLE
        return soon and bool(mark) and before.body == mark
    store_response(session, used, StoredResponse(status=201, headers={}, body=mark))
    return True


def _mark(idempotency_key: str | None) -> bytes:
    """By which a repetition is known; empty where none is."""
    if idempotency_key is None or len(idempotency_key) < SHORTEST_SECRET:
        return b""
    return _sha256(idempotency_key).encode()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
