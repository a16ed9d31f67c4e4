"""A Python client for games that call in. It needs nothing but the standard library: copy this file into your game.

    gateway = Gateway("http://127.0.0.1:8810")
    game = gateway.session()
    game.start(b"...")
    while playing:
        command = game.tick(b"what the agent sees")
    game.end(b"how it ended")

Bodies and replies are bytes that the game and its agent agree on. `http://`, `https://` and `tcp://` addresses work
alike. A Gateway may be shared by threads: each has a connection of its own.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import struct
import threading
import uuid
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol
from urllib.parse import urlencode, urlsplit


class GatewayError(Exception):
    """The gateway could not be reached, or its answer could not be read."""


class Refused(GatewayError):
    """The gateway refused a request. `status` is an HTTP status, over TCP too."""

    def __init__(self, status: int, text: str, retry_after: float | None = None) -> None:
        super().__init__(status, text, retry_after)
        self.status, self.text, self.retry_after = status, text, retry_after

    def __str__(self) -> str:
        return f"{self.status}: {self.text}"


class _Connection(Protocol):
    def send(self, kind: str, session: str, body: bytes, ticket: str) -> None: ...

    def receive(self) -> bytes: ...

    def next_order(self, wait: float, game: str) -> bytes: ...

    def close(self) -> None: ...


class Gateway:
    """A gateway's address, and this process' connections to it."""

    def __init__(self, url: str, *, token: str = "", timeout: float = 60.0, tls: ssl.SSLContext | None = None) -> None:
        address = urlsplit(url)
        if address.scheme not in ("http", "https", "tcp") or not address.hostname or not address.port:
            raise ValueError(
                f"{url!r} is no address of a gateway: http://HOST:PORT, https://HOST:PORT or tcp://HOST:PORT"
            )
        self.url, self.token, self.timeout = url, token, timeout
        self._address, self._tls = address, tls
        self._mine = threading.local()

    def session(self, name: str | None = None, ticket: str = "") -> Session:
        """A game to be played; without a name it gets one that nobody else has."""
        return Session(self, name or uuid.uuid4().hex, ticket)

    def next(self, wait: float = 30.0, game: str = "") -> dict[str, Any] | None:
        """What to play next; None where nothing came up within `wait` seconds. Pass its `ticket` to `session`.

        `game` is the name that the trial file gives the game which this process plays. A process that never asks
        passes that name as the ticket, and plays what is wanted of this game when it starts.
        """
        connection = self._connections(1)[0]
        reply = self._spoken([connection], lambda: connection.next_order(wait, game))
        if not reply:
            return None
        order = json.loads(reply)
        if not isinstance(order, dict):
            raise GatewayError(f"the gateway's answer to `next` is no object: {reply[:100]!r}")
        return order

    def step(self, kind: str, session: str, body: bytes = b"", ticket: str = "") -> bytes:
        """One request: `start`, `tick`, `end`, or `auto` for a single tick without a session."""
        return self.steps(kind, {session: body}, ticket)[session]

    def steps(self, kind: str, bodies: Mapping[str, bytes], ticket: str = "") -> dict[str, bytes]:
        """One request for each session (or agent of a session) at the same time, so agents may wait for each other.

        The first refusal is raised when all answers are in.
        """
        connections = self._connections(len(bodies))

        def exchange() -> dict[str, bytes]:
            for connection, (session, body) in zip(connections, bodies.items(), strict=True):
                connection.send(kind, session, body, ticket)
            replies: dict[str, bytes] = {}
            refused: Refused | None = None
            for connection, session in zip(connections, bodies, strict=True):
                try:
                    replies[session] = connection.receive()
                except Refused as refusal:
                    refused = refused or refusal
            if refused is not None:
                raise refused
            return replies

        return self._spoken(connections, exchange)

    def close(self) -> None:
        """Close this thread's connections. Sessions that have not ended stay open until they expire."""
        for connection in getattr(self._mine, "connections", []):
            connection.close()
        self._mine.connections = []

    def __enter__(self) -> Gateway:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _connections(self, count: int) -> list[_Connection]:
        mine: list[_Connection] = self._mine.__dict__.setdefault("connections", [])
        while len(mine) < count:
            mine.append(_TcpConnection(self) if self._address.scheme == "tcp" else _HttpConnection(self))
        return mine[:count]

    def _spoken(self, connections: list[_Connection], exchange: Any) -> Any:
        """The exchange's value. A connection that broke is closed; the next request opens it anew. None is repeated."""
        try:
            return exchange()
        except Refused:
            raise
        except (OSError, http.client.HTTPException, GatewayError) as error:
            for connection in connections:
                connection.close()
            if isinstance(error, GatewayError):
                raise
            raise GatewayError(f"{self.url}: {error or type(error).__name__}") from error


class Session:
    """One game, from start to end. A game that is abandoned expires, and has no result."""

    def __init__(self, gateway: Gateway, name: str, ticket: str) -> None:
        self.gateway, self.name, self.ticket = gateway, name, ticket

    def start(self, body: bytes = b"", agent: str = "") -> bytes:
        return self.gateway.step("start", self.name_of(agent), body, self.ticket)

    def tick(self, body: bytes, agent: str = "") -> bytes:
        return self.gateway.step("tick", self.name_of(agent), body)

    def end(self, body: bytes = b"", agent: str = "") -> bytes:
        return self.gateway.step("end", self.name_of(agent), body)

    def start_all(self, bodies: Mapping[str, bytes]) -> dict[str, bytes]:
        """Start several agents of this game, by name."""
        return self._all("start", bodies)

    def tick_all(self, bodies: Mapping[str, bytes]) -> dict[str, bytes]:
        """One tick of several agents at the same time: they may wait for each other's values."""
        return self._all("tick", bodies)

    def end_all(self, bodies: Mapping[str, bytes]) -> dict[str, bytes]:
        return self._all("end", bodies)

    def name_of(self, agent: str) -> str:
        """The session's name in a request: that of the game, and of the agent where it has several."""
        return f"{self.name}-agent-{agent}" if agent else self.name

    def _all(self, kind: str, bodies: Mapping[str, bytes]) -> dict[str, bytes]:
        ticket = self.ticket if kind == "start" else ""
        replies = self.gateway.steps(kind, {self.name_of(agent): body for agent, body in bodies.items()}, ticket)
        return {agent: replies[self.name_of(agent)] for agent in bodies}


class _HttpConnection:
    """`POST /step` on one kept-alive connection."""

    def __init__(self, gateway: Gateway) -> None:
        address = gateway._address
        assert address.hostname and address.port
        self._headers = {"authorization": f"Bearer {gateway.token}"} if gateway.token else {}
        self._path = address.path.rstrip("/")
        if address.scheme == "https":
            context = gateway._tls or ssl.create_default_context()
            self._http: http.client.HTTPConnection = http.client.HTTPSConnection(
                address.hostname, address.port, timeout=gateway.timeout, context=context
            )
        else:
            self._http = http.client.HTTPConnection(address.hostname, address.port, timeout=gateway.timeout)

    def send(self, kind: str, session: str, body: bytes, ticket: str) -> None:
        headers = {**self._headers, "step_kind": kind, "session": session}
        if ticket:
            headers["ticket"] = ticket
        self._http.request("POST", f"{self._path}/step", body, headers)

    def receive(self) -> bytes:
        response = self._http.getresponse()
        body = response.read()
        if response.status >= 300:
            wait = response.headers.get("retry-after")
            raise Refused(response.status, body.decode("utf-8", "replace").strip(), float(wait) if wait else None)
        return body

    def next_order(self, wait: float, game: str) -> bytes:
        query = urlencode({"seconds": f"{wait:g}", "game": game} if game else {"seconds": f"{wait:g}"})
        self._http.request("GET", f"{self._path}/next?{query}", headers=self._headers)
        return self.receive()

    def close(self) -> None:
        self._http.close()


class _TcpConnection:
    """Frames on one connection: 16 bytes of head, the session's name, the ticket, the body."""

    _HEAD, _REPLY = struct.Struct(">4BIIB3x"), struct.Struct(">BBHIII")
    _KINDS: ClassVar = {"start": 1, "tick": 2, "end": 3, "auto": 4}
    _KEY, _NEXT = 5, 6

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._socket: socket.socket | None = None

    def send(self, kind: str, session: str, body: bytes, ticket: str) -> None:
        self._write(self._KINDS[kind], session.encode(), ticket.encode(), body)

    def receive(self) -> bytes:
        magic, _, status, _, size, wait = self._REPLY.unpack(self._read(self._REPLY.size))
        if magic != ord("L"):
            raise GatewayError(f"{self._gateway.url} answers with something else than a frame; is it the TCP port?")
        body = self._read(size)
        if status >= 300:
            raise Refused(status, body.decode("utf-8", "replace"), wait / 1000 if wait else None)
        return body

    def next_order(self, wait: float, game: str) -> bytes:
        self._write(self._NEXT, game.encode(), b"", f"{wait:g}".encode())
        return self.receive()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _write(self, kind: int, session: bytes, ticket: bytes, body: bytes) -> None:
        if self._socket is None:
            self._open()
        assert self._socket is not None
        head = self._HEAD.pack(ord("L"), 1, kind, len(session), 0, len(body), len(ticket))
        self._socket.sendall(head + session + ticket + body)

    def _open(self) -> None:
        gateway = self._gateway
        where = (gateway._address.hostname, gateway._address.port)
        self._socket = socket.create_connection(where, timeout=gateway.timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if gateway._tls is not None:
            self._socket = gateway._tls.wrap_socket(self._socket, server_hostname=gateway._address.hostname)
        if gateway.token:
            self._write(self._KEY, b"", b"", gateway.token.encode())
            self.receive()

    def _read(self, size: int) -> bytes:
        assert self._socket is not None
        parts, missing = [], size
        while missing:
            part = self._socket.recv(min(missing, 1 << 16))
            if not part:
                raise ConnectionError("the gateway closed the connection")
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)
