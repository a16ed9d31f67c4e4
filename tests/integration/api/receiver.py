"""A receiver of webhooks on a real port, which can die, come back, lose answers and redirect."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lanista.stack.ports import unused_port


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.body)
        return read


@dataclass
class Receiver:
    """Keeps all requests; `answer` says what each gets: a status, or None for a connection that is cut."""

    port: int = field(default_factory=unused_port)
    received: list[Received] = field(default_factory=list)
    answer: Callable[[Received], int | None] = lambda request: 204
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def once(self) -> dict[str, Received]:
        """What a receiver that deduplicates by the id has."""
        return {request.id: request for request in self.received}

    def start(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                names = {name.lower(): value for name, value in self.headers.items()}
                request = Received(self.path, names, body)
                receiver.received.append(request)
                status = receiver.answer(request)
                if status is None:  # received, but the sender never learns of it
                    self.close_connection = True
                    return
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", receiver.url.replace("/hook", "/elsewhere"))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
