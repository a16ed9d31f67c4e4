"""Strangers at the door: connections that send nothing, too much, too slowly, or that read nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from api.settings import ApiSettings
from api.web.serving import connections
from api.web.serving.connections import ConnectionLimits, Connections
from api.web.serving.server import server_config
from lanista.stack.ports import unused_port

PATIENCE = 30.0
LIMITS: dict[str, Any] = {
    "header_seconds": 0.5,
    "transfer_seconds": 0.5,
    "max_connections": 10,
    "keep_alive_seconds": 1,
}
LARGE = b"x" * (16 << 20)
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the size of the body, or with more than the system buffers."""
    assert scope["type"] == "http"
    size = 0
    if scope["path"] != "/unread":
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
    body = LARGE if scope["path"] == "/large" else str(size).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def serving(**limits: Any) -> Iterator[tuple[int, Connections]]:
    settings = ApiSettings(port=unused_port(), **LIMITS | limits)
    config = server_config(app, settings, shutdown_seconds=1)
    config.lifespan = "off"
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        _until(lambda: server.started)
        yield settings.port, config.http.args[0]  # type: ignore[union-attr]
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def door() -> Iterator[tuple[int, Connections]]:
    with pytest.MonkeyPatch.context() as patches, serving() as served:
        patches.setattr(connections, "TICK_SECONDS", 0.05)
        yield served


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
        yield line


def read_all(line: socket.socket) -> bytes:
    """What the server sends until it closes; it hangs, and so fails, if the server does not close."""
    received = b""
    with suppress(ConnectionResetError):
        while part := line.recv(1 << 20):
            received += part
    return received


def exchange(port: int, request: bytes) -> bytes:
    with connected(port) as line:
        with suppress(ConnectionError):
            line.sendall(request)
        return read_all(line)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_connection_that_sends_nothing_is_closed(door: tuple[int, Connections]) -> None:
    assert exchange(door[0], b"") == b""


@pytest.mark.parametrize("begun", [GET, b"GET / HT", b"\r\n"])
def test_half_a_head_is_answered_or_closed(door: tuple[int, Connections], begun: bytes) -> None:
    said = exchange(door[0], begun)
    assert (said == b"") if begun == b"\r\n" else said.startswith(b"HTTP/1.1 408 ")


def test_headers_that_drip_are_not_waited_for(door: tuple[int, Connections]) -> None:
    with connected(door[0]) as line:
        line.sendall(GET)
        line.settimeout(0.1)
        said = b""
        while not said:  # endless if the server waits
            with suppress(TimeoutError):
                said = line.recv(1000)
                break
            line.sendall(b"X: y\r\n")
    assert said.startswith(b"HTTP/1.1 408 ")


def test_half_a_head_after_an_answer_is_not_waited_for(door: tuple[int, Connections]) -> None:
    said = exchange(door[0], GET + b"\r\n" + GET)
    assert said.startswith(b"HTTP/1.1 200 ") and b"HTTP/1.1 408 " in said


@pytest.mark.parametrize(
    "head",
    [
        GET + b"X: " + b"a" * 40_000 + b"\r\n\r\n",
        GET + b"X: y\r\n" * 8_000 + b"\r\n",
        b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        GET + b"X: " + b"a" * 3_000_000,
    ],
    ids=["one long", "many", "the address", "without an end"],
)
def test_headers_may_not_be_too_large(door: tuple[int, Connections], head: bytes) -> None:
    said = exchange(door[0], head)
    assert said.startswith(b"HTTP/1.1 431 ") and b"32768" in said


def test_headers_within_the_limit_are_served(door: tuple[int, Connections]) -> None:
    said = exchange(door[0], GET + b"X: " + b"a" * 30_000 + b"\r\nConnection: close\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 200 ")


def test_a_large_body_in_the_packet_of_its_headers_is_no_header(door: tuple[int, Connections]) -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 500000\r\n\r\n"
    assert exchange(door[0], head + b"a" * 500_000).endswith(b"500000")
    chunked = b"POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert exchange(door[0], chunked + b"1\r\na\r\n" * 50_000 + b"0\r\nX: y\r\n\r\n").endswith(b"50000")


@pytest.mark.parametrize(
    "tail", [b"0\r\nX: " + b"a" * 3_000_000, b"1;x=" + b"a" * 3_000_000], ids=["a trailer", "an extension"]
)
def test_trailers_and_extensions_without_end_are_refused(door: tuple[int, Connections], tail: bytes) -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert exchange(door[0], head + tail).startswith(b"HTTP/1.1 400 ")


def test_a_body_that_drips_is_not_waited_for(door: tuple[int, Connections]) -> None:
    with connected(door[0]) as line:
        line.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        line.settimeout(0.1)
        said = b""
        while not said:
            with suppress(TimeoutError):
                said = line.recv(1000)
                break
            line.sendall(b"a")
    assert said.startswith(b"HTTP/1.1 408 ")


def test_a_body_that_nobody_reads_is_not_taken(door: tuple[int, Connections]) -> None:
    """The stranger is answered at once, as without a token, and goes on sending."""
    with connected(door[0]) as line:
        line.sendall(b"POST /unread HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n")
        assert line.recv(1000).startswith(b"HTTP/1.1 200 ")
        sent = 0
        with suppress(ConnectionError):
            while sent < 1_000_000_000:
                sent += line.send(b"a" * 65_536)
    assert sent < 100_000_000


def test_an_answer_that_nobody_reads_ends(door: tuple[int, Connections]) -> None:
    port, open_now = door
    with connected(port) as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _until(lambda: len(open_now) > 0)
        _until(lambda: len(open_now) == 0)


def test_pipelined_requests_are_counted(door: tuple[int, Connections]) -> None:
    said = exchange(door[0], b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n" * 2_000)
    assert said.count(b"HTTP/1.1 ") <= 20


def test_websockets_are_not_spoken(door: tuple[int, Connections]) -> None:
    upgrade = (
        b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YQ==\r\n\r\n"
    )
    assert not exchange(door[0], GET + upgrade + b"Sec-WebSocket-Key: YQ==\r\n\r\n").startswith(b"HTTP/1.1 101 ")


def test_idle_connections_shut_nobody_out() -> None:
    with serving(header_seconds=600.0) as (port, open_now):
        idle = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) for _ in range(50)]
        try:
            _until(lambda: len(open_now) == 10)
            for _ in range(20):
                assert exchange(port, GET + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")
            assert len(open_now) <= 10
        finally:
            for line in idle:
                line.close()


def test_readers_that_hardly_read_shut_nobody_out() -> None:
    """A second request on each line waits until the first answer is read, so that none of the lines is idle."""
    request = b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with serving(transfer_seconds=600.0) as (port, open_now):
        slow = [socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) for _ in range(12)]
        try:
            for line in slow:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                with suppress(ConnectionError):
                    line.sendall(request * 2)
            _until(lambda: len(open_now) == 10 and all(each.is_busy for each in list(open_now._open)))
            for _ in range(5):
                assert exchange(port, GET + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        finally:
            for line in slow:
                line.close()


class Transport:
    """Notes that it was ended."""

    def __init__(self, unread: int) -> None:
        self.unread, self.aborted = unread, False

    def get_write_buffer_size(self) -> int:
        return self.unread

    def abort(self) -> None:
        self.aborted = True


class Peer:
    """A connection from an address, as far as `Connections` looks at it."""

    class Loop:
        def time(self) -> float:
            return 0.0

        def call_later(self, *_: object) -> object:
            return object()

    def __init__(self, host: str, *, is_busy: bool = True, unread: int = 0) -> None:
        self.client, self.counted_as, self.loop, self.is_busy = (host, 1), None, Peer.Loop(), is_busy
        self.cycle, self.flow = SimpleNamespace(more_body=False), SimpleNamespace(read_paused=False)
        self.transport = Transport(unread)


def test_connections_are_limited_for_each_address_from_elsewhere() -> None:
    limits = {"header_bytes": 1, "header_seconds": 1, "transfer_seconds": 1, "connections": 1_000, "per_address": 2}
    peers: Any = Connections(ConnectionLimits(**limits))  # type: ignore[arg-type]

    def refused(*hosts: str) -> list[int]:
        answers = [peers.add(Peer(host)) for host in hosts]
        return [answer.status if answer else 0 for answer in answers]

    idle, other = Peer("203.0.113.1", is_busy=False), Peer("203.0.113.9", is_busy=False)
    assert [peers.add(peer) for peer in (idle, other, Peer("203.0.113.1"))] == [None, None, None]
    assert refused("203.0.113.1", "203.0.113.1") == [0, 429], "its own idle connection makes room, once"
    assert idle.transport.aborted and not other.transport.aborted
    assert refused("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1", "192.0.2.2") == [0, 0, 429, 0]
    assert refused("2001:db8::1", "2001:db8::2:3", "2001:db8::4", "2001:db8:0:1::1") == [0, 0, 429, 0]
    assert refused(*["127.0.0.1"] * 5, *["::1"] * 5) == [0] * 10
    peer = Peer("198.51.100.1")
    for _ in range(5):
        assert peers.add(peer) is None
        peers.discard(peer)
