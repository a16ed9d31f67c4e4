"""Middleware that begins the trace of a request, added only while tracing is on."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.web.middleware.request_metrics import METHODS, REQUEST_ID
from orchestrator.tracing import spans
from orchestrator.tracing.ids import SpanRef

READS = frozenset({"GET", "HEAD", "OPTIONS"})
"""The page repeats these every second; they are traced only where the caller traces too."""


class TraceRequests:
    """ASGI middleware: a span for each request that changes something, or that names the caller's span."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = SpanRef.parse(Headers(scope=scope).get("traceparent", ""))
        if caller is None and scope["method"] in READS:
            await self._app(scope, receive, send)
            return
        await self._traced(scope, receive, send, caller)

    async def _traced(self, scope: Scope, receive: Receive, send: Send, caller: SpanRef | None) -> None:
        method = scope["method"] if scope["method"] in METHODS else "(other)"
        with spans.span(method, {"http.request.method": method}, parent=caller, root=True, kind="server") as span:

            async def send_seen(message: Message) -> None:
                if message["type"] == "http.response.start":
                    status = message["status"]
                    span.add({"http.response.status_code": status})
                    span.set(request_id=Headers(raw=message["headers"]).get(REQUEST_ID, ""))
                    if status >= 500:
                        span.fail(f"status {status}")
                await send(message)

            try:
                await self._app(scope, receive, send_seen)
            finally:
                # the pattern and not the path: it has no names of users' own
                route = getattr(scope.get("route"), "path", "(none)")
                span.rename(f"{method} {route}")
                span.add({"http.route": route})
