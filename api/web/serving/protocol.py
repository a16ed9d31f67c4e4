"""uvicorn's HTTP protocol with limits that the parser itself does not have.

The parser buffers a header line of any length, keeps every trailer, and queues every pipelined request that arrives in
one packet. uvicorn's only timer is that of an idle connection after an answer.

See docs/decisions/api-load.md.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.server import ServerState

from api.web.problems import MEDIA_TYPE, title_of
from api.web.serving.connections import Connections, Refusal

PIPELINED = 16
"""Requests that may wait on one connection for the answer to an earlier one."""
FRAMING = 8
"""Bytes on the wire for each byte of a body: chunks of one byte take six."""


class RequestRefused(Exception):
    """Raised inside a callback of the parser, to stop it."""


class LimitedProtocol(HttpToolsProtocol):
    """Counts the bytes of each part of a request; `Connections` watches the time and the number of connections."""

    def __init__(
        self,
        all_connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._all = all_connections
        self._most_header_bytes = all_connections.limits.header_bytes
        self._refusal: Refusal | None = None
        self._messages = 0
        self._in_head = self._in_body = False
        self._head_bytes = self._body_bytes = self._raw_body_bytes = 0
        self.received = 0
        self.counted_as: str | None = None
        """The address that this connection counts for."""

    @property
    def is_busy(self) -> bool:
        """Whether a request is under way: its headers are here, and it has not been answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        refusal = self._all.add(self)
        if refusal is not None:
            self._refuse(refusal)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        before = self._messages
        self.received += len(data)
        super().data_received(data)
        if before == self._messages:
            self._count(len(data))

    def _count(self, size: int) -> None:
        """Count a packet that belongs to one request as a whole."""
        if self._in_head:
            self._head_bytes += size
            if self._head_bytes > self._most_header_bytes:
                self._refuse(self._headers_too_large())
        elif self._in_body:
            self._raw_body_bytes += size
            if not self.is_busy and self._raw_body_bytes > self._most_header_bytes:
                self.transport.close()  # answered already; nobody reads the rest
            elif self._raw_body_bytes - FRAMING * self._body_bytes > self._most_header_bytes:
                self._refuse(Refusal(400, "the body has more framing and trailers than content"))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._messages += 1
        self._in_head = True
        self._head_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # trailers, which no route reads, are dropped
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self._most_header_bytes:
            self._stop_parser(self._headers_too_large())
        if len(self.pipeline) >= PIPELINED:
            self._stop_parser(Refusal(429, f"at most {PIPELINED} requests may wait on one connection", 1))
        super().on_headers_complete()
        self._in_head, self._in_body = False, True
        self._body_bytes = self._raw_body_bytes = 0

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(self._refusal or Refusal(400, "this is not a valid HTTP request"))

    def end_stalled(self, waited_for: str) -> None:
        """End the connection of a peer that has kept us waiting; answer if it has begun a request."""
        if waited_for != "reading" and self._owes_request:
            limits = self._all.limits
            seconds = limits.header_seconds if waited_for == "headers" else limits.transfer_seconds
            self._refuse(Refusal(408, f"the request's {waited_for} did not arrive within {seconds:g} s"))
        else:
            self.transport.abort()

    @property
    def _owes_request(self) -> bool:
        started = self.is_busy and self.cycle.response_started
        return (self._in_head or self._in_body) and not started

    def _headers_too_large(self) -> Refusal:
        return Refusal(431, f"the request line and headers may have at most {self._most_header_bytes} bytes")

    def _stop_parser(self, refusal: Refusal) -> None:
        self._refusal = refusal
        raise RequestRefused

    def _refuse(self, refusal: Refusal) -> None:
        """Answer outside the application, and close."""
        if self.transport.is_closing():
            return
        if self.is_busy and (self._in_head or self.cycle.response_started):
            self.transport.close()  # an answer here would be taken for that of the request under way
            return
        body = json.dumps(
            {
                "type": "about:blank",
                "title": title_of(refusal.status),
                "status": refusal.status,
                "detail": refusal.detail,
            }
        ).encode()
        lines = [f"content-type: {MEDIA_TYPE}", f"content-length: {len(body)}", "connection: close"]
        if refusal.retry_after is not None:
            lines.append(f"retry-after: {refusal.retry_after}")
        head = "\r\n".join(lines).encode()
        self.transport.write(STATUS_LINE[refusal.status] + head + b"\r\n\r\n" + body)
        self.transport.close()
