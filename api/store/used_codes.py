"""One-time codes are used once: their numbers are kept among the keys of requests that were answered."""

from __future__ import annotations

import hashlib

from sqlalchemy.orm import Session

from api.store.answers import KeptAnswer, RequestKey, claim_key, keep_answer
from api.store.tokens import token_by_id


def use_code(session: Session, token_id: str, number: str) -> bool:
    """Take a code in this transaction; False if it was taken before, or its token is gone.

    Keys are kept for an hour at least, which is longer than a code is good for.
    """
    if token_by_id(session, token_id) is None:
        return False
    sha256 = hashlib.sha256(number.encode()).hexdigest()
    key = RequestKey(token_id=token_id, method="POST", path="/api/v1/session", key=number, request_sha256=sha256)
    if claim_key(session, key) is not None:
        return False
    keep_answer(session, key, KeptAnswer(status=201, headers={}, body=b""))
    return True
