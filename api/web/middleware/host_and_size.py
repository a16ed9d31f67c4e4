"""Checks before a request is read: the Host header and the size of the body."""

from __future__ import annotations

from contextlib import suppress

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.web.problems import problem

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


def allowed_hosts(bound: str, named: str) -> frozenset[str] | None:
    """The host names that the API answers to; None where the setting allows any."""
    names = {name.strip().lower() for name in named.split(",") if name.strip()}
    if "*" in names:
        return None
    return LOOPBACK | names | {f"[{bound}]" if ":" in bound else bound.lower()}


class HostAndSizeChecks:
    """Refuses unknown Host headers and bodies above the limit, whether their length is declared or not.

    By DNS rebinding, another site's page could reach a local server; its Host header gives it away.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None, max_body: int, limits: dict[str, int]) -> None:
        self._app = app
        self._hosts = hosts
        self._max_body = max_body
        self._limits = limits
        """Paths with their own limits."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if refusal := self._refuse_host(headers.getlist("host")):
            await problem(400, refusal)(scope, receive, send)
            return
        limit = self._limits.get(scope["path"], self._max_body)
        declared = headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            await _too_large(limit)(scope, receive, send)
            return
        await self._limited(scope, receive, send, limit)

    def _refuse_host(self, named: list[str]) -> str | None:
        """Why the Host headers are refused. Of two, a proxy may have checked one and we would use the other."""
        if len(named) > 1:
            return f"send one Host header, not {len(named)}"
        host = "".join(named)
        if self._hosts is not None and _without_port(host) not in self._hosts:
            return f"this server does not answer to the host name {host!r}; add it to LANISTA_ALLOWED_HOSTS"
        return None

    async def _limited(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        read = 0
        started = False

        async def receive_limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise _TooLarge
            return message

        async def send_unless_too_large(message: Message) -> None:
            nonlocal started
            # the framework would answer with an error of its own; ours names the limit
            if read <= limit or started:
                started = True
                await send(message)

        with suppress(_TooLarge):
            await self._app(scope, receive_limited, send_unless_too_large)
        if read > limit and not started:
            await _too_large(limit)(scope, receive, send)


class _TooLarge(Exception):
    """The body is larger than allowed."""


def _too_large(limit: int) -> Response:
    return problem(413, f"the body may have at most {limit} bytes", headers={"Connection": "close"})


def _without_port(host: str) -> str:
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdecimal() else host.lower()
