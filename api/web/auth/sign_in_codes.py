"""One-time codes that open a browser session without showing a token: signed, short-lived, good for one use.

A code names a token and holds no secret of it. That it is used once is for the store to see to.
"""

from __future__ import annotations

import base64
import binascii
import secrets
import struct
import time
import uuid
from dataclasses import dataclass

from api.web.auth.sessions import SessionSigner

SECONDS = 600
"""How long a code may lie unused: time to walk over to the browser."""
_CONTENT = struct.Struct("!16s9sI")
"""Token, number, end."""
_SIGNATURE = 22
"""Characters of the signature that are kept: 132 bits."""


@dataclass(frozen=True, kw_only=True)
class SignInCode:
    """What a genuine code says."""

    token_id: str
    number: str
    """Tells this code from every other, so that its use can be written down."""


def issue_code(signer: SessionSigner, token_id: str, *, request: str | None = None, end: float | None = None) -> str:
    """A code for the token's holder to hand to a browser; the same one for the same request and end."""
    number = secrets.token_bytes(9)
    if request is not None:
        number = base64.urlsafe_b64decode(signer.sign("code number", request)[:12])
    content = _CONTENT.pack(uuid.UUID(token_id).bytes, number, int(end or time.time() + SECONDS))
    text = _text(content)
    return f"{text}.{signer.sign('code', text)[:_SIGNATURE]}"


def read_code(signer: SessionSigner, code: str) -> SignInCode | None:
    """What the code says; None for one that is forged, damaged or too old."""
    text, _, signature = code.partition(".")
    if not signer.is_signed("code", text, signature, length=_SIGNATURE):
        return None
    try:
        token, number, end = _CONTENT.unpack(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, struct.error):
        return None
    return SignInCode(token_id=str(uuid.UUID(bytes=token)), number=_text(number)) if end > time.time() else None


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
