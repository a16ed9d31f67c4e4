"""The clients of the API's measurement: every answer is read whole and is the one that was asked for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from benchmarks.stacks.http_clients import Timed, UnexpectedAnswer, request_bytes, time_gets

BODY = b"x" * 100_000


@contextmanager
def server(answer: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Answers every request of every connection with the same bytes; yields its port and what it was asked."""
    asked: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        # a client that is not content hangs up in the middle of an answer
        with connection, suppress(ConnectionError):
            while request := connection.recv(65536):
                asked.append(request)
                # in two pieces, so that a head cut in the middle is seen too
                connection.sendall(answer[:20])
                connection.sendall(answer[20:])

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listening.getsockname()[1], asked
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def test_each_client_asks_as_often_as_it_was_told_to() -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()
    with server(head + BODY) as (port, asked):
        request = request_bytes(port, "/here", {"Authorization": "Bearer me"})
        timed = time_gets(port, request, 200, clients=3, each=4)
    assert len(timed.times) == 12 and timed.times == sorted(timed.times)
    assert asked == [request] * 12
    assert (
        request.startswith(b"GET /here HTTP/1.1\r\nHost: 127.0.0.1:") and b"\r\nAuthorization: Bearer me\r\n" in request
    )


def test_an_answer_without_a_body_has_no_length() -> None:
    with server(b"HTTP/1.1 304 Not Modified\r\nETag: 1\r\n\r\n") as (port, asked):
        timed = time_gets(port, request_bytes(port, "/", {}), 304, clients=1, each=2)
    assert len(timed.times) == len(asked) == 2


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n", "500 Internal Server Error"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "without its length"),
    ],
)
def test_another_answer_is_refused(answer: bytes, message: str) -> None:
    with server(answer) as (port, _), pytest.raises(UnexpectedAnswer, match=message):
        time_gets(port, request_bytes(port, "/", {}), 200, clients=2, each=2)


def test_a_percentile_is_the_time_that_so_many_stay_below() -> None:
    timed = Timed([float(number) for number in range(100)], 0.1)
    assert timed.percentile(0.95) == 95.0 and timed.percentile(1.0) == 99.0
