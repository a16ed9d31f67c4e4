"""Bearer tokens: random, shown once, stored as a hash."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from api.schemas.enums import Scope
from api.store.access.browser_sessions import token_of_session
from api.store.access.tokens import find_token, token_by_id, touch_token
from api.store.core.engine import Session, Sessions
from api.store.tables import ApiToken
from api.web.cache import Cache

PREFIX = "lanista_"
"""Prefix by which secret scanners recognise a token."""
TTL_SECONDS = 1.0
"""How long a lookup is cached; a revocation by another process takes effect within it."""
MAX_CACHED = 10_000
RANKS = {scope: rank for rank, scope in enumerate(Scope)}


def new_token() -> str:
    """A new secret of 256 random bits."""
    return f"{PREFIX}{secrets.token_urlsafe(32)}"


def token_hash(token: str) -> str:
    """The hash that is stored. A random secret of this length needs neither salt nor a slow hash."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Principal:
    """The caller of a request: its token, and the browser session that it came by."""

    token_id: str
    name: str
    scope: Scope
    expires_at: datetime | None = None
    session_id: str | None = None
    """The browser session; None for a bearer token."""

    @property
    def by_cookie(self) -> bool:
        """Whether the caller is a browser session."""
        return self.session_id is not None

    def may(self, scope: Scope) -> bool:
        """Whether the caller has this scope; each scope includes the lower ones."""
        return RANKS[self.scope] >= RANKS[scope]


class TokenLookup:
    """Finds the principal of a token, cached for a second; records once a minute that the token was used."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._cache = Cache[Principal | None](MAX_CACHED, ttl=TTL_SECONDS, keep=lambda principal: principal is not None)

    def cached(self, key: str) -> Principal | None:
        """The principal of a token's hash or id that was looked up within the last second; asks no database."""
        principal = self._cache.peek(key)
        return principal if principal is not None and _unexpired(principal) else None

    def by_secret(self, token: str) -> Principal | None:
        """The principal of this token; None if it is unknown, expired or revoked."""
        return self._look_up(token_hash(token), find_token)

    def by_id(self, token_id: str) -> Principal | None:
        """The principal of a token's id."""
        return self._look_up(token_id, token_by_id)

    def by_session(self, session_id: str) -> Principal | None:
        """The principal of a browser session; None if the session is over or its token is not valid."""
        found = self._look_up(session_id, token_of_session)
        return None if found is None else replace(found, session_id=session_id)

    def is_valid(self, principal: Principal) -> bool:
        """Whether the principal's session and token are still valid."""
        if principal.session_id is not None:
            return self.by_session(principal.session_id) is not None
        return self.by_id(principal.token_id) is not None

    def clear_cache(self) -> None:
        """Clear the cache, after a revocation or a sign-out in this process."""
        self._cache.clear()

    def _look_up(self, key: str, find: Callable[[Session, str], ApiToken | None]) -> Principal | None:
        principal = self._cache.get(key, lambda: self._read(key, find))
        return principal if principal is not None and _unexpired(principal) else None

    def _read(self, key: str, find: Callable[[Session, str], ApiToken | None]) -> Principal | None:
        with self._sessions.begin() as session:
            row = find(session, key)
            principal = None if row is None else _principal(row)
            if principal is not None:
                touch_token(session, principal.token_id)
            return principal


def _principal(row: ApiToken) -> Principal | None:
    principal = Principal(token_id=row.id, name=row.name, scope=row.scope, expires_at=row.expires_at)
    return principal if row.revoked_at is None and _unexpired(principal) else None


def _unexpired(principal: Principal) -> bool:
    return principal.expires_at is None or principal.expires_at > datetime.now(UTC)
