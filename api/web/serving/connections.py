"""Open connections: how many there may be, and which of them no longer make progress.

See docs/decisions/api-load.md.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from api.addresses import Network, contains, limit_key, read_address

if TYPE_CHECKING:
    from api.web.serving.protocol import LimitedProtocol

TICK_SECONDS = 0.5
LEAST_RATE = 500
"""Bytes per second that a request's body must have on average."""


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """Limits on connections; docs/guides/settings.md has the settings."""

    header_bytes: int
    header_seconds: float
    transfer_seconds: float
    connections: int
    per_address: int
    trusted: tuple[Network, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """Why a connection is refused."""

    status: int
    detail: str
    retry_after: int | None = None


class LastProgress:
    """What a connection had done when it was last looked at."""

    def __init__(self, now: float) -> None:
        self.since = now
        """When the present wait began."""
        self.cycle: object = None
        self.received = 0
        self.buffered = 0
        self.waits_for = ""


class Connections:
    """All connections of this process. One timer looks at them all, so that a request costs no timer."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._open: dict[LimitedProtocol, LastProgress] = {}
        self._by_address: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: LimitedProtocol) -> Refusal | None:
        """Count a new connection; above a limit the reason to refuse it."""
        host = connection.client[0] if connection.client else None
        if self._is_limited(host):
            key = limit_key(host)
            if self._by_address[key] >= self.limits.per_address and not self._make_room(counted_as=key):
                detail = f"this address has {self.limits.per_address} connections open, which is the limit"
                return Refusal(429, detail, retry_after=5)
            connection.counted_as = key
            self._by_address[key] += 1
        now = connection.loop.time()
        self._open[connection] = LastProgress(now)
        if len(self._open) > self.limits.connections and not self._make_room(besides=connection):
            return Refusal(503, f"the server has {self.limits.connections} connections open, which is the limit", 5)
        if self._timer is None:
            self._timer = connection.loop.call_later(TICK_SECONDS, self._tick, connection.loop)
        return None

    def discard(self, connection: LimitedProtocol) -> None:
        """Forget a connection that is closed."""
        self._open.pop(connection, None)
        key, connection.counted_as = connection.counted_as, None
        if key is not None:
            self._by_address[key] -= 1
            if not self._by_address[key]:
                del self._by_address[key]

    def _is_limited(self, host: str | None) -> bool:
        """Whether the limit for each address holds: not for this machine and trusted proxies, who speak for many."""
        address = None if host is None else read_address(host)
        return address is not None and not address.is_loopback and not contains(self.limits.trusted, address)

    def _make_room(self, *, besides: LimitedProtocol | None = None, counted_as: str | None = None) -> bool:
        """End a connection (`counted_as`: of this address) that waits for its peer: idle peers shut nobody out."""
        found = [each for each in self._open if each is not besides and counted_as in (None, each.counted_as)]
        chosen = _longest_waiting(found)
        if chosen is None:
            return False
        self.discard(chosen)
        chosen.transport.abort()
        return True

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for connection, progress in list(self._open.items()):
            if self._is_stalled(connection, progress, now):
                connection.end_stalled(progress.waits_for)
        self._timer = loop.call_later(TICK_SECONDS, self._tick, loop) if self._open else None

    def _is_stalled(self, connection: LimitedProtocol, progress: LastProgress, now: float) -> bool:
        """Whether the peer has kept us waiting for too long; notes what we wait for."""
        limits = self.limits
        buffered = _unread(connection)
        waits_for = _waits_for(connection, buffered)
        same = waits_for == progress.waits_for and connection.cycle is progress.cycle
        received = connection.received - progress.received
        drained = waits_for == "reading" and buffered < progress.buffered
        progress.buffered = buffered
        if not waits_for or not same or drained:
            progress.waits_for, progress.cycle = waits_for, connection.cycle
            progress.since, progress.received = now, connection.received
            return False
        waited = now - progress.since
        if waits_for == "headers":
            return waited > limits.header_seconds
        if waited <= limits.transfer_seconds:
            return False
        if waits_for == "body" and received >= LEAST_RATE * waited:
            progress.since, progress.received = now, connection.received
            return False
        return True


def _longest_waiting(connections: list[LimitedProtocol]) -> LimitedProtocol | None:
    """The oldest one that sends no headers, else no body; else the one that has left most of its answer unread."""
    for reason in ("headers", "body"):
        for connection in connections:
            if _waits_for(connection, buffered=0) == reason:
                return connection
    unread = max(connections, key=_unread, default=None)
    return unread if unread is not None and _unread(unread) else None


def _unread(connection: LimitedProtocol) -> int:
    return connection.transport.get_write_buffer_size()


def _waits_for(connection: LimitedProtocol, buffered: int) -> str:
    """What the peer is to do next: read what we sent, or send us headers or a body; nothing while we work."""
    if buffered:
        return "reading"
    if not connection.is_busy:
        return "headers"
    return "body" if connection.cycle.more_body and not connection.flow.read_paused else ""
