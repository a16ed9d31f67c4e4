"""One-time sign-in codes: a used code is stored as an idempotency key, so that it works once."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from sqlalchemy.orm import Session

from api.store.access.tokens import token_by_id
from api.store.core.clock import now
from api.store.core.idempotency import RequestKey, StoredResponse, claim, reserved_at, store_response

REPEAT_WINDOW = timedelta(seconds=60)
"""How long a code works again with the same Idempotency-Key, in case the response was lost."""
MIN_KEY_LENGTH = 20
"""The shortest Idempotency-Key, in characters, that cannot be guessed within that time; a UUID has 36."""


def use_code(session: Session, token_id: str, number: str, idempotency_key: str | None = None) -> bool:
    """Use a code in this transaction; False if it was used before, or its token does not exist.

    The same request may use it again for a minute: only its sender knows both code and key. Keys are kept for at
    least an hour, which is longer than a code is valid.
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
        soon = since is not None and now(session) - since <= REPEAT_WINDOW
        return soon and bool(mark) and before.body == mark
    store_response(session, used, StoredResponse(status=201, headers={}, body=mark))
    return True


def _mark(idempotency_key: str | None) -> bytes:
    """Identifies a retry; empty where the key is too short to prove one."""
    if idempotency_key is None or len(idempotency_key) < MIN_KEY_LENGTH:
        return b""
    return _sha256(idempotency_key).encode()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
