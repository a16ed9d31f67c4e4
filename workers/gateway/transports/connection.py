"""What HTTP and TCP connections have in common: their state, slow peers, and how they end."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import Any, cast

from workers.gateway.contract import Refused
from workers.gateway.limits import WRITE_BUFFER
from workers.gateway.transports.front import Front

LINGER_SECONDS = 2.0
"""How long what a refused peer still sends is thrown away: a reset would take the refusal from it."""


class GameConnection(asyncio.Protocol):
    """A connection of a game."""

    __slots__ = ("_closing", "_front", "_lingering", "_reading", "_since", "_transport", "_unsent", "_write_paused")

    def __init__(self, front: Front) -> None:
        self._front = front
        self._transport: asyncio.Transport | None = None
        self._reading = True
        self._write_paused = False
        """The peer does not read its replies."""
        self._closing = False
        """Nothing more is read; the connection ends after the last reply."""
        self._lingering = False
        self._unsent = b""
        """Replies that go out with those of the other connections, at the end of this turn of the event loop."""
        self._since = front.clock.now
        """When the present wait for the peer began."""

    # What a transport defines

    @abstractmethod
    def _made(self, trusted: bool) -> None:
        """The connection is there; a trusted peer needs no token."""

    @abstractmethod
    def _lost(self) -> None:
        """Give back what the connection holds."""

    @abstractmethod
    def _too_many(self, refusal: Refused) -> None:
        """Say that there are too many connections, if that can be said."""

    @abstractmethod
    def _is_busy(self) -> bool:
        """Whether a reply is outstanding."""

    @abstractmethod
    def _has_steps(self) -> bool:
        """Whether the reply to a step is outstanding, and not only to a question what to play."""

    @abstractmethod
    def _in_request(self) -> bool:
        """Whether a part of a request has arrived."""

    @abstractmethod
    def _fail(self, refusal: Refused) -> None:
        """The stream cannot be followed any further: say why, and end."""

    @abstractmethod
    def _refuse_questions(self, refusal: Refused) -> None:
        """Answer and withdraw questions that wait for a game to play."""

    @abstractmethod
    def _go_on(self) -> None:
        """Handle and read on, if what held this back is over."""

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        front = self._front
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER)
        self._made(front.access.trusts(transport.get_extra_info("peername")))
        if not front.connections.add(self):
            most = front.connections.most
            front.metrics.refused[503] += 1
            self._too_many(
                Refused(503, f"This gateway has {most} connections open, which is its limit: try again.", 1.0)
            )
            self.shut()
        front.metrics.connections = len(front.connections)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._closing = True
        self._lost()
        self._front.connections.remove(self)
        self._front.metrics.connections = len(self._front.connections)

    def eof_received(self) -> bool:
        """A peer that only ended its own side still gets the replies to its steps, but waits for no game any more.

        TLS has no half-open state.
        """
        self.send_unsent()
        self._closing = True
        over_tls = self._transport is not None and self._transport.get_extra_info("sslcontext") is not None
        return self._has_steps() and not over_tls

    def pause_writing(self) -> None:
        self._write_paused = True
        self._since = self._front.clock.now
        self._set_reading(False)

    def resume_writing(self) -> None:
        self._write_paused = False
        self._since = self._front.clock.now
        self._go_on()

    # What the registry of connections calls

    def end_if_slow(self, now: float) -> None:
        patience = self._patience()
        if self._transport is None or patience is None or now - self._since <= patience:
            return
        if self._lingering or self._write_paused or self._closing:
            self._transport.abort()
        elif self._in_request():
            self._fail(Refused(408, f"The request did not arrive within {patience:g} s."))
        else:
            self._transport.close()

    def _patience(self) -> float | None:
        """Seconds that the present wait for the peer may take; None where we are the ones who are awaited."""
        if self._lingering:
            return LINGER_SECONDS
        if self._is_busy() and not self._write_paused:
            return None
        if self._write_paused or self._closing or self._in_request():
            return self._front.limits.request_seconds
        return self._front.limits.idle_seconds

    def shut(self) -> None:
        self._closing = True
        self._refuse_questions(Refused(503, "The gateway stops.", 1.0))
        if not self._is_busy():
            self._end()

    # Writing and ending

    def send_unsent(self) -> None:
        """Write the replies that wait in the outbox."""
        data, self._unsent = self._unsent, b""
        if data and self._transport is not None and not self._lingering:
            try:
                self._transport.write(data)
            except RuntimeError:  # as in `_write`
                self._transport = None

    def _write(self, data: bytes) -> None:
        if self._unsent:  # replies keep their order
            data, self._unsent = self._unsent + data, b""
        if self._transport is None or self._lingering:
            return
        try:
            self._transport.write(data)
        except RuntimeError:  # uvloop raises it if the transport is closed already
            self._transport = None

    def _linger(self) -> None:
        """End after the last reply, and throw away what the peer still sends."""
        self.send_unsent()
        transport: Any = self._transport
        self._closing = True
        if transport is None or transport.is_closing():
            return
        if not transport.can_write_eof():
            transport.close()
            return
        self._lingering = True
        self._since = self._front.clock.now
        transport.write_eof()
        self._set_reading(True)

    def _end(self) -> None:
        self.send_unsent()
        if self._transport is not None and not self._lingering:
            self._transport.close()

    def _set_reading(self, wanted: bool) -> None:
        if wanted == self._reading or self._transport is None or self._transport.is_closing():
            return
        self._reading = wanted
        if wanted:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()
