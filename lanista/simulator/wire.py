"""The client's side of a gateway's protocols on asyncio: one connection, one request under way."""

from __future__ import annotations

import asyncio
import ssl
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, cast
from urllib.parse import urlencode, urlsplit

OnReply = Callable[[int, bytes, float], None]
"""Called with the status (200, or that of a refusal), the bytes, and the seconds to wait before another try."""
OnLost = Callable[[], None]


class BadAddress(ValueError):
    """Not the address of a gateway."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a gateway listens, and how to talk to it."""

    scheme: str
    host: str
    port: int
    token: str = ""

    @classmethod
    def parse(cls, url: str, token: str = "") -> Address:
        """The address in a URL."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "tcp") or not parts.hostname or not parts.port:
            raise BadAddress(
                f"{url!r} is no address of a gateway: http://HOST:PORT, https://HOST:PORT or tcp://HOST:PORT"
            )
        return cls(parts.scheme, parts.hostname, parts.port, token)

    async def connect(self, on_reply: OnReply, on_lost: OnLost) -> Wire:
        """A new connection; raises OSError."""
        kind: type[Wire] = TcpWire if self.scheme == "tcp" else HttpWire
        tls = ssl.create_default_context() if self.scheme == "https" else None
        _, wire = await asyncio.get_running_loop().create_connection(
            lambda: kind(self, on_reply, on_lost), self.host, self.port, ssl=tls
        )
        return wire


class Wire(asyncio.Protocol, ABC):
    """A connection to a gateway."""

    def __init__(self, address: Address, on_reply: OnReply, on_lost: OnLost) -> None:
        self.address, self.on_reply, self.on_lost = address, on_reply, on_lost
        self.buffer = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self.on_lost()

    def close(self) -> None:
        """Close without a word to `on_lost`."""
        self.on_lost = lambda: None
        if self.transport is not None:
            self.transport.close()

    @abstractmethod
    def request(self, kind: str, session: str, body: bytes, ticket: str = "") -> None:
        """Send a request; its answer goes to `on_reply`."""

    @abstractmethod
    def ask_next(self, seconds: float, game: str = "") -> None:
        """Ask what to play next of a game; the answer goes to `on_reply`, with no bytes where there is nothing."""


class HttpWire(Wire):
    """`POST /step` on a kept-alive connection."""

    def __init__(self, address: Address, on_reply: OnReply, on_lost: OnLost) -> None:
        super().__init__(address, on_reply, on_lost)
        token = f"authorization: Bearer {address.token}\r\n" if address.token else ""
        self.common = f"host: {address.host}\r\n{token}"
        self.head = f"POST /step HTTP/1.1\r\n{self.common}step_kind: "

    def request(self, kind: str, session: str, body: bytes, ticket: str = "") -> None:
        if self.transport is not None:
            more = f"ticket: {ticket}\r\n" if ticket else ""
            head = f"{self.head}{kind}\r\nsession: {session}\r\n{more}content-length: {len(body)}\r\n\r\n"
            self.transport.write(head.encode() + body)

    def ask_next(self, seconds: float, game: str = "") -> None:
        if self.transport is not None:
            query = urlencode({"seconds": f"{seconds:g}", "game": game})
            self.transport.write(f"GET /next?{query} HTTP/1.1\r\n{self.common}\r\n".encode())

    def data_received(self, data: bytes) -> None:
        self.buffer = self.buffer + data if self.buffer else data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self.buffer[:end].lower()
        start = end + 4
        length = _header(head, b"content-length:")
        if len(self.buffer) < start + int(length or 0):
            return
        body, self.buffer = self.buffer[start : start + int(length or 0)], self.buffer[start + int(length or 0) :]
        status = int(head[9:12])
        self.on_reply(status, body, float(_header(head, b"retry-after:") or 0) if status >= 300 else 0.0)


def _header(head: bytes, name: bytes) -> bytes:
    at = head.find(name)
    if at < 0:
        return b""
    end = head.find(b"\r\n", at)
    return head[at + len(name) : end if end >= 0 else len(head)].strip()


class TcpWire(Wire):
    """Frames, as docs/guides/gateway.md describes them byte by byte."""

    HEAD, REPLY = struct.Struct(">4BIIB3x"), struct.Struct(">BBHIII")
    KINDS: ClassVar = {"start": 1, "tick": 2, "end": 3, "auto": 4}
    KEY, NEXT = 5, 6

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.unheard = 0
        """Answers that nobody waits for: that to the token."""
        if self.address.token:
            self.unheard = 1
            self._write(self.KEY, b"", b"", self.address.token.encode())

    def request(self, kind: str, session: str, body: bytes, ticket: str = "") -> None:
        self._write(self.KINDS[kind], session.encode(), ticket.encode(), body)

    def ask_next(self, seconds: float, game: str = "") -> None:
        self._write(self.NEXT, game.encode(), b"", f"{seconds:g}".encode())

    def data_received(self, data: bytes) -> None:
        self.buffer = self.buffer + data if self.buffer else data
        while len(self.buffer) >= self.REPLY.size:
            _, _, status, _, size, wait = self.REPLY.unpack_from(self.buffer)
            end = self.REPLY.size + size
            if len(self.buffer) < end:
                return
            body, self.buffer = self.buffer[self.REPLY.size : end], self.buffer[end:]
            if self.unheard and status < 300:
                self.unheard -= 1
            else:
                self.on_reply(status, body, wait / 1000)

    def _write(self, kind: int, session: bytes, ticket: bytes, body: bytes) -> None:
        if self.transport is not None:
            head = self.HEAD.pack(ord("L"), 1, kind, len(session), 0, len(body), len(ticket))
            self.transport.write(head + session + ticket + body)
