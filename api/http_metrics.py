"""Counts and times of requests, and the headers every answer carries."""

from __future__ import annotations

import time

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


class HttpMetrics:
    """One registry a process, so that two apps in one test do not share counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        labels = ("method", "route", "status")
        self.requests = Counter("lanista_http_requests", "HTTP requests", labels, registry=self.registry)
        self.seconds = Histogram(
            "lanista_http_request_seconds", "Time of a request", labels[:2], registry=self.registry
        )


class ObserveRequests:
    """ASGI middleware: measures each request by its route's pattern and adds the security headers."""

    def __init__(self, app: ASGIApp, metrics: HttpMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def send_observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        try:
            await self._app(scope, receive, send_observed)
        finally:
            route = getattr(scope.get("route"), "path", "(none)")
            self._metrics.requests.labels(scope["method"], route, status).inc()
            self._metrics.seconds.labels(scope["method"], route).observe(time.perf_counter() - started)
