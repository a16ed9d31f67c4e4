"""The configuration of uvicorn, with the limits of the settings."""

from __future__ import annotations

import resource
import sys
from contextlib import suppress
from functools import partial
from typing import Any, cast

import structlog
import uvicorn
from starlette.types import ASGIApp

from api.addresses import read_networks
from api.settings import ApiSettings
from api.web.serving.connections import ConnectionLimits, Connections
from api.web.serving.protocol import LimitedProtocol

log = structlog.get_logger()

STARTUP_FAILURE = 3

OTHER_FILES = 512
"""Files that the process needs besides its connections: Postgres, Temporal, artifacts, modules."""


def server_config(app: ASGIApp, settings: ApiSettings, *, shutdown_seconds: int) -> uvicorn.Config:
    """How uvicorn serves the application: no proxy headers and no WebSockets, and limits on connections."""
    limits = ConnectionLimits(
        header_bytes=settings.max_header_bytes,
        header_seconds=settings.header_seconds,
        transfer_seconds=settings.transfer_seconds,
        connections=settings.max_connections,
        per_address=settings.connections_per_address,
        trusted=read_networks(settings.trusted_proxies),
    )
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=cast(Any, partial(LimitedProtocol, Connections(limits))),
        ws="none",  # no route has them, and their connections would have no limits
        proxy_headers=False,  # CallerAddress reads them, from trusted proxies only
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=settings.keep_alive_seconds,
        # event streams hold their connections open; their clients reconnect by themselves
        timeout_graceful_shutdown=shutdown_seconds,
    )


def serve(config: uvicorn.Config) -> None:
    """Serve until the process is stopped; exits with an error if the server could not start."""
    server = uvicorn.Server(config)
    with suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(STARTUP_FAILURE)


def raise_file_limit(connections: int) -> None:
    """Let the process open as many files as its connections need, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < needed:
        log.warning("the limit on open files is below LANISTA_MAX_CONNECTIONS", files=allowed, needed=needed)
