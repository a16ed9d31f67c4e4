"""Reads HTTP requests from a stream of bytes: httptools parses, and what a game repeats is not parsed again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httptools

from workers.gateway.auth import bearer
from workers.gateway.contract import Refused, Step, StepKind
from workers.gateway.limits import SMALL_BODY
from workers.gateway.session_names import parse_kind, parse_session, parse_ticket
from workers.gateway.transports.front import Front
from workers.gateway.transports.http_pages import PATHS, PageRequest

KEPT_HEADERS = {
    b"session": "session",
    b"game_id": "session",
    b"game-id": "session",
    b"step_kind": "kind",
    b"step-kind": "kind",
    b"ticket": "ticket",
    b"authorization": "authorization",
    b"token": "token",
    b"key": "key",
    b"content-length": "length",
    b"expect": "expect",
    b"origin": "origin",
    b"sec-fetch-site": "fetch_site",
}
"""Headers that count, by lower-case name. Proxies often drop names with underscores, so dashes do as well."""
REMEMBERED_HEADS = 16

Request = Step | PageRequest | Refused
Deliver = Callable[[Request, bool, int], None]
"""Takes a request, whether its connection stays open after it, and the bytes of the budget that it holds."""


class RequestReader:
    """The parser of one connection. Requests that are refused by themselves leave the connection in order."""

    __slots__ = (
        "_began",
        "_body",
        "_deliver",
        "_delivered",
        "_fed",
        "_front",
        "_head_bytes",
        "_headers",
        "_heads",
        "_last",
        "_parser",
        "_size",
        "_target",
        "_url",
        "charge",
        "head_done",
        "in_message",
        "on_expect",
        "trusted",
    )

    def __init__(self, front: Front, deliver: Deliver, on_expect: Callable[[], None]) -> None:
        self._front = front
        self._deliver = deliver
        self.on_expect = on_expect
        self._parser: Any = httptools.HttpRequestParser(self)
        self.trusted = False
        """The peer needs no token."""
        self.in_message = False
        self.head_done = False
        self.charge = 0
        """Bytes of the budget that the body under way holds."""
        self._began = False
        self._delivered = 0
        self._fed = 0
        self._url = b""
        self._headers: dict[str, bytes] = {}
        self._body: list[bytes] = []
        self._size = 0
        self._head_bytes = 0
        self._last: Step | None = None
        self._target = ("", "")
        self._heads: dict[int, bytes] = {}
        """Heads of ticks of the session `_target`, by the size of head and body together."""

    def close(self) -> None:
        """Forget the parser, which refers to this object, and the budget of a body that will not come."""
        self._parser = None
        self._deliver = _nobody
        self._front.budget.give_back(self.charge)
        self.charge = 0

    def repeated(self, data: bytes) -> Step | None:
        """The tick that these bytes are, if their head is one that was parsed before; else None."""
        head = self._heads.get(len(data))
        if head is None or self.in_message or not data.startswith(head):
            return None
        session, agent = self._target
        return Step(session, StepKind.TICK, data[len(head) :], agent)

    def feed(self, data: bytes) -> None:
        """Deliver the requests in `data`; raises Refused where the stream cannot be followed any further."""
        fresh = not self.in_message
        self._began = False
        self._delivered = 0
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            raise Refused(400, "This gateway speaks HTTP/1.1 only: send no `Upgrade` header.") from None
        except httptools.HttpParserCallbackError as error:
            if isinstance(error.__context__, Refused):
                raise error.__context__ from None
            raise
        except httptools.HttpParserError as error:
            raise Refused(400, f"This is not an HTTP/1.1 request: {error}.") from None
        if self.in_message and not self.head_done and not self._began:
            self._fed += len(data)  # an unfinished header is counted only here
            self._check_head(self._fed)
        if fresh and self._delivered == 1 and not self.in_message:
            self._remember(data)

    def _remember(self, data: bytes) -> None:
        """Keep the head of a tick that arrived alone and whole."""
        tick, self._last = self._last, None
        end = data.find(b"\r\n\r\n") + 4
        if tick is None or end + len(tick.body) != len(data):
            return
        target = (tick.session, tick.agent)
        if target != self._target or len(self._heads) >= REMEMBERED_HEADS:
            self._heads.clear()
            self._target = target
        self._heads[len(data)] = data[:end]

    # What the parser calls

    def on_message_begin(self) -> None:
        self.in_message = self._began = True
        self.head_done = False
        self._url = b""
        self._headers = {}
        self._body = []
        self._size = self._head_bytes = self._fed = self.charge = 0

    def on_url(self, url: bytes) -> None:
        self._url += url
        self._count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count_head(len(name) + len(value) + 4)
        kept = KEPT_HEADERS.get(name.lower())
        if kept is None or self.head_done:  # trailers of a chunked body are ignored
            return
        if self._headers.setdefault(kept, value) != value:
            raise Refused(400, f"The headers give `{kept}` twice, with different values.")

    def on_headers_complete(self) -> None:
        self.head_done = True
        headers, limits = self._headers, self._front.limits
        if not self._allowed():
            raise Refused(401, "This gateway needs a token: send `Authorization: Bearer TOKEN`, or the header `token`.")
        if "length" in headers:
            size = int(headers["length"]) if len(headers["length"]) < 20 else limits.body_bytes + 1
            self._check_size(size)
            if size > SMALL_BODY:
                self._take(size)
        if headers.get("expect", b"").lower() == b"100-continue":
            self.on_expect()

    def on_body(self, part: bytes) -> None:
        self._size += len(part)
        self._check_size(self._size)
        if self._size > SMALL_BODY and not self.charge:  # chunked: the size is not known in advance
            self._take(self._front.limits.body_bytes)
        self._body.append(part)

    def on_message_complete(self) -> None:
        self.in_message = False
        self._delivered += 1
        keep_alive = self._parser.should_keep_alive()
        charge, self.charge = self.charge, 0
        try:
            request = self._request()
        except Refused as refusal:
            request = refusal
        self._last = None
        if keep_alive and not charge and isinstance(request, Step) and request.kind is StepKind.TICK:
            self._last = request
        self._body = []
        self._deliver(request, keep_alive, charge)

    # What a request must be

    def _request(self) -> Request:
        method, headers = self._parser.get_method(), self._headers
        path, _, query = self._url.partition(b"?")
        if "origin" in headers or headers.get("fetch_site", b"none") != b"none":
            raise Refused(403, "Pages in a browser may not call here, and only browsers send `origin`.")
        if path == b"/step":
            if method != b"POST":
                raise Refused(405, f"/step takes POST, not {method.decode()}.")
            return self._step(headers)
        if path in PATHS:
            if method != b"GET":
                raise Refused(405, f"{path.decode()} takes GET, not {method.decode()}.")
            return PageRequest(path, query)
        known = ", ".join(known.decode() for known in PATHS)
        raise Refused(404, f"There is no {path[:100].decode(errors='replace')!r} here: POST /step, or GET {known}.")

    def _step(self, headers: dict[str, bytes]) -> Step:
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        if "kind" not in headers:
            if "session" in headers:
                raise Refused(400, "The header `step_kind` is missing: start, tick, end (stop) or auto.")
            return Step("", StepKind.AUTO, body)
        kind = parse_kind(headers["kind"])
        if kind is StepKind.AUTO:
            return Step("", kind, body)
        session, agent = parse_session(headers.get("session", b""))
        ticket = parse_ticket(headers.get("ticket", b"")) if kind is StepKind.START else ""
        return Step(session, kind, body, agent, ticket)

    def _allowed(self) -> bool:
        if self.trusted or self._url.partition(b"?")[0] == b"/health":
            return True
        headers, knows = self._headers, self._front.access.knows
        if "authorization" in headers and knows(bearer(headers["authorization"])):
            return True
        return any(name in headers and knows(headers[name]) for name in ("token", "key"))

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        self._check_head(self._head_bytes)

    def _check_head(self, size: int) -> None:
        if size > self._front.limits.header_bytes:
            most = self._front.limits.header_bytes
            raise Refused(431, f"The request's headers have more than {most} bytes, which is the limit.")

    def _check_size(self, size: int) -> None:
        most = self._front.limits.body_bytes
        if size > most:
            raise Refused(413, f"The body has more than {most} bytes, which is the limit.")

    def _take(self, size: int) -> None:
        if not self._front.budget.take(size):
            raise Refused(503, "This gateway holds as many large bodies as it may: try again.", 1.0)
        self.charge = size


def _nobody(request: Request, keep_alive: bool, charge: int) -> None:
    """Takes requests of a connection that is gone."""
