"""TLS on the control channel: gateways show a certificate, crews check it against an authority that they were given."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Protocol, TypeVar

Found = TypeVar("Found")


class Connection(Protocol):
    """What frames need of a blocking socket."""

    def recv_into(self, buffer: memoryview, /) -> int: ...

    def sendall(self, data: bytes | memoryview, /) -> None: ...


def trusting(authority: str) -> ssl.SSLContext:
    """A crew's context: gateways must show a certificate of this authority (PEM), for the host that was called."""
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cadata=authority)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class TlsConnection:
    """A TLS connection that one thread may read while another sends, which `ssl.SSLSocket` does not allow.

    Each call of OpenSSL is short and under a lock; the waits between them are not.
    """

    def __init__(self, connection: socket.socket, context: ssl.SSLContext, host: str) -> None:
        """Shake hands over a connected socket; raises ssl.SSLError where the certificate is not to be trusted."""
        self._seconds = connection.gettimeout()
        self._tls = context.wrap_socket(connection, server_hostname=host)
        self._tls.setblocking(False)
        self._lock = threading.Lock()

    def settimeout(self, seconds: float | None) -> None:
        """How long a call waits for the peer, as a socket's."""
        self._seconds = seconds

    def recv_into(self, buffer: memoryview, /) -> int:
        """Read some bytes; 0 at the end."""
        return self._retried(lambda: self._tls.recv_into(buffer))

    def sendall(self, data: bytes | memoryview, /) -> None:
        """Send all bytes. One thread at a time."""
        left = memoryview(data).cast("B")
        while left:
            part = left
            left = left[self._retried(lambda part=part: self._tls.send(part)) :]  # type: ignore[misc]

    def shutdown(self, how: int) -> None:
        """End the connection without a word of TLS: whoever waits in a call gets its end."""
        socket.socket.shutdown(self._tls, how)

    def close(self) -> None:
        """Close the socket."""
        self._tls.close()

    def _retried(self, call: Callable[[], Found]) -> Found:
        while True:
            try:
                with self._lock:
                    return call()
            except ssl.SSLWantReadError:
                self._wait(select.POLLIN)
            except ssl.SSLWantWriteError:
                self._wait(select.POLLOUT)

    def _wait(self, event: int) -> None:
        poll = select.poll()
        poll.register(self._tls.fileno(), event)
        if not poll.poll(None if self._seconds is None else self._seconds * 1000):
            raise TimeoutError("timed out")
