"""Bearer tokens: made at random, shown once, kept as a hash."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from api.schemas.enums import Scope
from api.store.access.tokens import find_token, token_by_id, touch_token
from api.store.core.engine import Sessions
from api.store.tables import ApiToken

PREFIX = "lanista_"
"""Lets a scanner for leaked secrets recognise one."""
TRUSTED_SECONDS = 1.0
"""How long an answer of the database is believed; a revocation by another process takes effect within it."""
MOST_REMEMBERED = 10_000
RANKS = {scope: rank for rank, scope in enumerate(Scope)}


def new_token() -> str:
    """A fresh secret of 256 random bits."""
    return f"{PREFIX}{secrets.token_urlsafe(32)}"


def token_hash(token: str) -> str:
    """What is stored. A random secret of this length needs no salt and no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Who calls."""

    token_id: str
    name: str
    scope: Scope
    expires_at: datetime | None = None
    by_cookie: bool = False

    def may(self, scope: Scope) -> bool:
        """Each scope includes the ones before it."""
        return RANKS[self.scope] >= RANKS[scope]


class TokenBook:
    """Looks tokens up, remembers them for a second, and notes once a minute that they were used."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._known: dict[str, tuple[float, Principal]] = {}
        self._lock = threading.Lock()
        self._turns = [threading.Lock() for _ in range(64)]

    def remembered(self, key: str) -> Principal | None:
        """The principal of a hash or id that was looked up a moment ago; costs nothing."""
        found = self._known.get(key)
        if found is None or time.monotonic() - found[0] > TRUSTED_SECONDS:
            return None
        return found[1] if _unexpired(found[1]) else None

    def by_secret(self, token: str) -> Principal | None:
        """Whose token this is; None for an unknown, expired or revoked one."""
        sha256 = token_hash(token)
        return self.remembered(sha256) or self._look_up(sha256, by_id=False)

    def by_id(self, token_id: str) -> Principal | None:
        """The principal behind a browser session."""
        return self.remembered(token_id) or self._look_up(token_id, by_id=True)

    def forget(self) -> None:
        """After a revocation in this process."""
        with self._lock:
            self._known.clear()

    def _look_up(self, key: str, *, by_id: bool) -> Principal | None:
        with self._turns[hash(key) % len(self._turns)]:  # of many that ask at once, one asks the database
            return self.remembered(key) or self._found(key, by_id=by_id)

    def _found(self, key: str, *, by_id: bool) -> Principal | None:
        with self._sessions.begin() as session:
            row = token_by_id(session, key) if by_id else find_token(session, key)
            principal = None if row is None else _principal(row)
            if principal is None:
                return None
            touch_token(session, principal.token_id)
        with self._lock:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            self._known[key] = (time.monotonic(), principal)
        return principal


def _principal(row: ApiToken) -> Principal | None:
    principal = Principal(token_id=row.id, name=row.name, scope=row.scope, expires_at=row.expires_at)
    return principal if row.revoked_at is None and _unexpired(principal) else None


def _unexpired(principal: Principal) -> bool:
    return principal.expires_at is None or principal.expires_at > datetime.now(UTC)
