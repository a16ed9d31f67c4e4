"""Limits of one gateway process: sessions, connections, bytes, and how long a slow peer is waited for.

See docs/decisions/gateway.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

TICK_SECONDS = 0.25
"""How often the clock moves and silent peers are looked for."""
SMALL_BODY = 16 << 10
"""Bodies up to this size are not counted against `buffered_bytes`: `connections` bounds them."""
WRITE_BUFFER = 256 << 10
"""Bytes of unread replies at which a connection's requests are no longer read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GatewayLimits:
    """Limits of one gateway process; docs/guides/settings.md has the settings."""

    body_bytes: int = 1 << 20
    """Largest body of a request; above it 413."""
    header_bytes: int = 16 << 10
    """Largest HTTP request line with headers; above it 431."""
    buffered_bytes: int = 256 << 20
    """Bytes of large bodies held at once; above it 503."""
    connections: int = 20_000
    """Connections open at once; above it 503."""
    under_way: int = 1024
    """Requests of one TCP connection under way at once; above it nothing more is read from it."""
    sessions: int = 20_000
    """Sessions open at once; above it 503."""
    agents: int = 64
    """Agents of one session; above it 409."""
    session_seconds: float = 60.0
    """A session without a request for this long is aborted."""
    step_seconds: float = 60.0
    """An agent that has not answered for this long is given up: 504, and its session is aborted."""
    request_seconds: float = 30.0
    """A peer that takes longer to send a request or to read a reply is cut off."""
    idle_seconds: float = 600.0
    """A connection without a request for this long is closed."""


class Clock:
    """The event loop's time to a quarter of a second, so that a request costs no system call for it."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sweeps: list[Callable[[float], None]] = []
        self._timer: asyncio.TimerHandle | None = None

    def each_tick(self, sweep: Callable[[float], None]) -> None:
        """Call `sweep(now)` at every tick."""
        self._sweeps.append(sweep)

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self.now = loop.time()
        self._timer = loop.call_later(TICK_SECONDS, self._tick, loop)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        self.now = loop.time()
        self._timer = loop.call_later(TICK_SECONDS, self._tick, loop)
        for sweep in self._sweeps:
            sweep(self.now)


class ByteBudget:
    """Bytes of large bodies that are held at once, over all connections."""

    __slots__ = ("most", "used")

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0

    def take(self, size: int) -> bool:
        """Reserve memory for a body; False where there is not enough."""
        if self.used + size > self.most:
            return False
        self.used += size
        return True

    def give_back(self, size: int) -> None:
        self.used -= size


class Connection(Protocol):
    """What the registry asks of a connection."""

    def end_if_slow(self, now: float) -> None:
        """Close the connection if its peer takes too long."""
        ...

    def shut(self) -> None:
        """Close the connection once the reply under way is sent."""
        ...


class GameConnections:
    """All connections of this process. One timer looks at them all, so that a request costs no timer."""

    def __init__(self, clock: Clock, most: int) -> None:
        self.most = most
        self._open: set[Connection] = set()
        self._to_visit: list[Connection] = []
        clock.each_tick(self._sweep)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: Connection) -> bool:
        """Count a connection; False where there are too many."""
        if len(self._open) >= self.most:
            return False
        self._open.add(connection)
        return True

    def remove(self, connection: Connection) -> None:
        self._open.discard(connection)

    def shut_all(self) -> None:
        for connection in list(self._open):
            connection.shut()

    def _sweep(self, now: float) -> None:
        """Look at an eighth of them: all ten thousand at once would hold up every session."""
        if not self._to_visit:
            self._to_visit = list(self._open)
        for _ in range(min(len(self._to_visit), max(64, len(self._open) // 8))):
            self._to_visit.pop().end_if_slow(now)
