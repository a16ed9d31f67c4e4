"""One-time codes that open a browser session without showing a token: signed, short-lived, and valid for one use.

A code names a token and holds no secret of it. The store records its use (`api/store/access/used_codes.py`).

See docs/decisions/authentication.md.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

from api.web.auth.sessions import SessionSigner

SECONDS = 600
"""How long a code is valid: enough time to open it in a browser."""


@dataclass(frozen=True, kw_only=True)
class SignInCode:
    """The content of a valid code."""

    token_id: str
    number: str
    """Unique for each code, so that its use can be recorded."""


def issue_code(signer: SessionSigner, token_id: str, *, request: str | None = None, end: float | None = None) -> str:
    """A code that opens a browser session of the token; the same for the same request and expiry."""
    number = secrets.token_urlsafe(9) if request is None else signer.signature("code number", request)[:12]
    return signer.sign("code", f"{token_id}.{number}.{int(end or time.time() + SECONDS)}")


def read_code(signer: SessionSigner, code: str) -> SignInCode | None:
    """The content of the code; None if it is forged, damaged or expired."""
    content = signer.unsign("code", code)
    if content is None:
        return None
    token_id, number, expires = content.split(".")
    return SignInCode(token_id=token_id, number=number) if int(expires) > time.time() else None
