"""Browser sessions: a signed cookie that names a recorded session and its expiry, and the session's CSRF token.

The cookie holds no secret of the token, and the database holds nothing from which a session could be forged. Browsers
send a cookie to every port of its host, so the cookie alone opens nothing: each request also carries the CSRF token,
which the page keeps where only its own origin, port included, can read it.

See docs/decisions/authentication.md.
"""

from __future__ import annotations

import hashlib
import secrets
import time

from itsdangerous import BadSignature, Signer

from orchestrator.settings import SHORTEST_SECRET

COOKIE = "lanista_session"
CSRF_HEADER = "X-CSRF-Token"


class SessionSigner:
    """Signs and reads session cookies, CSRF tokens and sign-in codes."""

    def __init__(self, secret: str | None, seconds: int) -> None:
        """`secret` may be several, separated by commas: the first one signs, all of them are accepted."""
        # each signed text begins with its purpose, so a signature for one purpose is invalid for every other: with
        # the secret itself as the key, cookies stay valid that were signed before this library did it
        self._signer = Signer(
            _oldest_first(secret or secrets.token_urlsafe(32)),
            sep=".",
            key_derivation="none",
            digest_method=hashlib.sha256,
        )
        self.seconds = seconds

    def issue(self, session_id: str) -> str:
        """The cookie's value for a session that begins now."""
        return self.sign("session", f"{session_id}.{int(time.time()) + self.seconds}")

    def session_id(self, cookie: str) -> str | None:
        """The session's id; None if the cookie is forged, damaged or expired."""
        content = self.unsign("session", cookie)
        if content is None:
            return None
        session_id, _, expires = content.rpartition(".")
        return session_id if int(expires) > time.time() else None

    def csrf_token(self, cookie: str) -> str:
        """The token that a page must send in a header with every request: only scripts of our origin can read it."""
        return self.signature("csrf", cookie)

    def is_csrf_token(self, cookie: str, given: str) -> bool:
        """Whether it is this session's CSRF token; compared in constant time."""
        return self._signer.verify_signature(_bytes("csrf", cookie), given.encode("utf-8", "replace"))

    def sign(self, purpose: str, content: str) -> str:
        """The content and its signature, which is valid for this purpose alone."""
        return f"{content}.{self.signature(purpose, content)}"

    def unsign(self, purpose: str, signed: str) -> str | None:
        """The content, if the signature is ours and for this purpose."""
        try:
            return self._signer.unsign(_bytes(purpose, signed)).decode().removeprefix(f"{purpose}:")
        except BadSignature:
            return None

    def signature(self, purpose: str, content: str) -> str:
        """The signature of the content for this purpose."""
        return self._signer.get_signature(_bytes(purpose, content)).decode()


def _oldest_first(secret: str) -> list[str]:
    """The secrets in the order of itsdangerous, which signs with the last one. A short part means one secret."""
    parts = [part.strip() for part in secret.split(",")]
    return parts[::-1] if all(len(part) >= SHORTEST_SECRET for part in parts) else [secret]


def _bytes(purpose: str, content: str) -> bytes:
    return f"{purpose}:{content}".encode("utf-8", "replace")
