"""A crew's connections to gateways: kept open by a thread each, with all that arrives in one queue."""

from __future__ import annotations

import queue
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import structlog

from workers.gateway.league.access import GatewayAccess
from workers.gateway.league.frames import BadFrame, Frame, receive_frame, send_frame
from workers.gateway.league.handshake import NotAuthentic, greet_as_crew
from workers.gateway.league.tls import TlsConnection, trusting

log = structlog.get_logger()

PING_SECONDS = 2.0
SILENT_SECONDS = 20.0
"""A gateway that says nothing for this long is given up, though its connection is open."""
CONNECT_SECONDS = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 3.0

CONNECTED = "connected"
LOST = "lost"
"""Kinds of frames that a link makes itself: the connection is there, or is no more."""


Socket = socket.socket | TlsConnection


class Arrived(NamedTuple):
    """A frame of a gateway."""

    link: int
    frame: Frame


class Links:
    """Connections to all gateways. One thread reads what arrives; any may send."""

    def __init__(self, access: GatewayAccess, who: str) -> None:
        self._arrived: queue.SimpleQueue[Arrived] = queue.SimpleQueue()
        tls = trusting(access.authority) if access.authority else None
        self._links = [
            _Link(number, address, access.key, who, self._arrived, tls)
            for number, address in enumerate(access.addresses)
        ]
        self.addresses = access.addresses

    def __len__(self) -> int:
        return len(self._links)

    @property
    def connected(self) -> list[int]:
        """The gateways that are connected now."""
        return [link.number for link in self._links if link.connected]

    @property
    def problems(self) -> list[str]:
        """Why gateways are not connected, one line each."""
        return [f"{link.address}: {link.problem}" for link in self._links if not link.connected]

    def send(self, link: int, frame: Frame) -> None:
        """Send a frame; it is lost where the gateway is not connected, which a LOST frame tells."""
        self._links[link].send(frame)

    def send_all(self, frame: Frame) -> None:
        """Send a frame to all gateways that are connected."""
        for link in self._links:
            link.send(frame)

    def next(self, seconds: float) -> Arrived | None:
        """What arrives next; None after so many seconds without anything."""
        try:
            return self._arrived.get(timeout=seconds)
        except queue.Empty:
            return None

    def forget(self) -> None:
        """Drop what has arrived; `connected` says what is true now."""
        with suppress(queue.Empty):
            while True:
                self._arrived.get_nowait()

    def close(self) -> None:
        """Close all connections."""
        for link in self._links:
            link.close()


class _Link:
    """One gateway."""

    def __init__(
        self,
        number: int,
        address: str,
        key: str,
        who: str,
        into: queue.SimpleQueue[Arrived],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.number, self.address, self._tls = number, address, tls
        self.problem = "not connected yet"
        self._key, self._who, self._into = key, who, into
        self._socket: Socket | None = None
        self._sending = threading.Lock()
        self._closed = threading.Event()
        for name, work in (("reads", self._run), ("pings", self._ping)):
            threading.Thread(target=work, name=f"gateway {address} {name}", daemon=True).start()

    @property
    def connected(self) -> bool:
        return self._socket is not None

    def send(self, frame: Frame) -> None:
        connection = self._socket
        if connection is None:
            return
        try:
            with self._sending:
                send_frame(connection, frame)
        except OSError:
            self._shut(connection)  # the reading thread notices and reconnects

    def close(self) -> None:
        self._closed.set()
        if self._socket is not None:
            self._shut(self._socket)

    def _run(self) -> None:
        pause = FIRST_PAUSE
        while not self._closed.is_set():
            try:
                connection = self._connect()
            except (OSError, NotAuthentic) as error:
                self._note(str(error) or type(error).__name__)
                self._closed.wait(pause)
                pause = min(LONGEST_PAUSE, 2 * pause)
                continue
            pause = FIRST_PAUSE
            self._read(connection)

    def _connect(self) -> Socket:
        host, _, port = self.address.rpartition(":")
        host = host.strip("[]")
        plain = socket.create_connection((host, int(port)), CONNECT_SECONDS)
        connection: Socket = plain
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                connection = TlsConnection(plain, self._tls, host)
            greet_as_crew(connection, self._key, self._who)
            connection.settimeout(SILENT_SECONDS)
        except BaseException:
            connection.close()
            raise
        return connection

    def _read(self, connection: Socket) -> None:
        """Read frames until the connection ends."""
        self._socket, self.problem = connection, ""
        self._into.put(Arrived(self.number, Frame(CONNECTED)))
        try:
            while True:
                frame = receive_frame(connection)
                if frame.kind != "pong":
                    self._into.put(Arrived(self.number, frame))
        except (OSError, EOFError, BadFrame) as error:
            if not self._closed.is_set():
                self._note(f"the connection was lost: {error}")
        finally:
            self._socket = None
            self._shut(connection)
            connection.close()
            self._into.put(Arrived(self.number, Frame(LOST)))

    def _ping(self) -> None:
        while not self._closed.wait(PING_SECONDS):
            self.send(Frame("ping", {"at": time.monotonic()}))

    def _note(self, problem: str) -> None:
        if problem != self.problem:
            log.warning("no connection to a gateway", gateway=self.address, problem=problem)
        self.problem = problem

    @staticmethod
    def _shut(connection: Socket) -> None:
        with suppress(OSError):  # the socket may be closed already
            connection.shutdown(socket.SHUT_RDWR)


def listed(addresses: Sequence[str]) -> str:
    """Addresses for people."""
    return ", ".join(addresses) or "none"
