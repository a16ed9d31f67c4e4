"""The proxy that cuts parts off: each mode does what its name says, and opening it again mends it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from benchmarks.faults.grounds.tcp_proxy import TcpProxy
from lanista.stack.ports import unused_port


@pytest.fixture
def echo() -> Iterator[int]:
    """A server that sends back what it gets."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        def answer(connection: socket.socket) -> None:
            with connection:
                while data := connection.recv(1024):
                    connection.sendall(data)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


@pytest.fixture
def proxy(echo: int) -> Iterator[tuple[TcpProxy, int]]:
    port = unused_port()
    made = TcpProxy(port, echo)
    yield made, port
    made.close()


def dial(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def test_a_cut_resets_connections_and_refuses_new_ones(proxy: tuple[TcpProxy, int]) -> None:
    made, port = proxy
    with dial(port) as line:
        line.sendall(b"one")
        assert line.recv(10) == b"one"
        made.set_mode("cut")
        with pytest.raises(OSError):
            if line.recv(10) == b"":
                raise ConnectionResetError
    with pytest.raises(OSError):
        dial(port)
    made.set_mode("open")
    with dial(port) as line:
        line.sendall(b"two")
        assert line.recv(10) == b"two"


def test_silence_keeps_a_connection_and_delivers_afterwards(proxy: tuple[TcpProxy, int]) -> None:
    made, port = proxy
    with dial(port) as line:
        made.set_mode("silent")
        line.sendall(b"late")
        line.settimeout(0.3)
        with pytest.raises(TimeoutError):
            line.recv(10)
        made.set_mode("open")
        line.settimeout(20)
        assert line.recv(10) == b"late"


def test_errors_are_answers(proxy: tuple[TcpProxy, int]) -> None:
    made, port = proxy
    made.set_mode("error")
    with dial(port) as line:
        line.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 503")
