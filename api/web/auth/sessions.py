"""Browser sessions: a signed cookie that names a token and an end, and the word that proves a form is ours.

The cookie holds no secret of the token, and the database holds nothing a session could be forged from.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
import uuid

COOKIE = "lanista_session"
CSRF_HEADER = "X-CSRF-Token"


class SessionSigner:
    """Makes and reads session cookies."""

    def __init__(self, secret: str | None, seconds: int) -> None:
        self._key = (secret or secrets.token_urlsafe(32)).encode()
        self.seconds = seconds

    def issue(self, token_id: str) -> str:
        """The cookie's value for a session that begins now."""
        content = f"{token_id}.{int(time.time()) + self.seconds}"
        return f"{content}.{self.sign('session', content)}"

    def token_id(self, cookie: str) -> str | None:
        """Whose session it is; None for one that is forged, damaged or over."""
        content, _, signature = cookie.rpartition(".")
        if not self.is_signed("session", content, signature):
            return None
        token_id, _, end = content.rpartition(".")
        return str(uuid.UUID(token_id)) if int(end) > time.time() else None

    def csrf_token(self, cookie: str) -> str:
        """What a page must send in a header with every change: only a script of our own origin can know it."""
        return self.sign("csrf", cookie)

    def is_csrf_token(self, cookie: str, given: str) -> bool:
        return self.is_signed("csrf", cookie, given)

    def is_signed(self, purpose: str, content: str, given: str, length: int | None = None) -> bool:
        """Whether this is the signature, or its first characters; takes the same time for every wrong one."""
        return hmac.compare_digest(self.sign(purpose, content)[:length].encode(), given.encode("utf-8", "replace"))

    def sign(self, purpose: str, content: str) -> str:
        """A signature that is good for this purpose alone."""
        message = f"{purpose}:{content}".encode("utf-8", "replace")
        digest = hmac.new(self._key, message, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")
