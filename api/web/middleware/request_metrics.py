"""The outermost middleware: request metrics, security headers, request ids, and 500 for an unexpected exception."""

from __future__ import annotations

import time
import uuid

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from api.web.problems import problem

log = structlog.get_logger()

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}


REQUEST_ID = "X-Request-ID"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class HttpMetrics:
    """A registry of its own for each application, so that two of them in one process do not share counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        labels = ("method", "route", "status")
        self.requests = Counter("lanista_http_requests", "HTTP requests", labels, registry=self.registry)
        self.seconds = Histogram(
            "lanista_http_request_seconds", "Time of a request", labels[:2], registry=self.registry
        )


class ObserveRequests:
    """ASGI middleware: gives each request an id, measures it by its route's pattern, and adds the security headers."""

    def __init__(self, app: ASGIApp, metrics: HttpMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = uuid.uuid4().hex
        with bound_contextvars(request_id=request_id):
            await self._observed(scope, receive, send, request_id)

    async def _observed(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        started = time.perf_counter()
        status = 0

        async def send_observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers[REQUEST_ID] = request_id
                if scope["path"].startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            await self._app(scope, receive, send_observed)
        except Exception as error:
            # answered here and not by the framework's outermost layer, whose answer would lack the headers
            log.error("request failed", method=scope["method"], path=scope["path"], exc_info=error)
            if status:
                raise  # too late for another answer: the connection breaks, so that the client notices
            detail = f"internal error; the API's log has the details under request_id {request_id}"
            await problem(500, detail, request_id=request_id)(scope, receive, send_observed)
        finally:
            route = getattr(scope.get("route"), "path", "(none)")
            # a client may invent methods; each would be a time series of its own
            method = scope["method"] if scope["method"] in METHODS else "(other)"
            self._metrics.requests.labels(method, route, status or 500).inc()
            self._metrics.seconds.labels(method, route).observe(time.perf_counter() - started)
