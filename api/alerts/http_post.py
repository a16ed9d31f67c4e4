"""Posts JSON to a receiver: to the address that was checked, without redirects, within a time limit."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from functools import cache

from api.alerts.call_guard import Receiver
from api.alerts.errors import NotDelivered

CONNECT_SECONDS = 10.0
TOTAL_SECONDS = 20.0
"""After this the connection is closed, however slowly the receiver still sends."""


def post(receiver: Receiver, body: bytes, headers: Mapping[str, str]) -> None:
    """Send the body; NotDelivered unless the receiver answers with 2xx. What else it answers is not read."""
    connection = _PinnedConnection(receiver)
    watch = threading.Timer(TOTAL_SECONDS, connection.abort)
    watch.daemon = True
    watch.start()
    try:
        sent = {"Host": receiver.host_header, "Content-Type": "application/json", "Connection": "close", **headers}
        connection.request("POST", receiver.path, body, sent)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException, ValueError) as error:
        late = " in time" if connection.aborted or isinstance(error, TimeoutError) else ""
        reason = "" if late else f": {_reason(error)}"
        raise NotDelivered(f"{receiver.host} did not answer{late}{reason}") from None
    finally:
        watch.cancel()
        connection.close()
    if not 200 <= status < 300:
        redirect = ", a redirect, which is not followed" if 300 <= status < 400 else ""
        raise NotDelivered(f"{receiver.host} answered {status}{redirect}")


class _PinnedConnection(http.client.HTTPConnection):
    """Connects to the receiver's address; TLS and the Host header use its name."""

    def __init__(self, receiver: Receiver) -> None:
        super().__init__(receiver.host, receiver.port, timeout=CONNECT_SECONDS)
        self._receiver = receiver
        self.aborted = False

    def connect(self) -> None:
        sock = socket.create_connection((self._receiver.address, self._receiver.port), timeout=CONNECT_SECONDS)
        self.sock = sock  # before TLS, so that `abort` ends a slow handshake too
        if self._receiver.scheme == "https":
            self.sock = _tls().wrap_socket(sock, server_hostname=self._receiver.host)

    def abort(self) -> None:
        """End the connection from another thread."""
        self.aborted = True
        if self.sock is not None:
            try:
                self.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                self.sock.close()


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is refused ({error.verify_message})"
    return getattr(error, "strerror", None) or type(error).__name__
