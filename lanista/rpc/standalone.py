"""`lanista rpc`: gRPC services in a process without games."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

from lanista.client.asynchronous import AsyncClient
from lanista.client.local import find_api
from lanista.rpc.registry import ClientRegistry
from workers.gateway.auth import Access, check_exposure
from workers.gateway.options import GatewayOptions
from workers.gateway.rpc.listening import listen_rpc
from workers.gateway.rpc.services import ServiceContext


async def serve(
    options: GatewayOptions, project: str, home: Path | None, on_ready: Callable[[int], None] | None = None
) -> None:
    """Serve until SIGTERM or SIGINT; `on_ready` gets the port."""
    access = Access(options.tokens, options.trusted)
    check_exposure(options.host, access)
    ended = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signum, ended.set)
    async with AsyncClient(find_api(home=home)) as client:
        registry = ClientRegistry(client, project)
        context = ServiceContext(registry=registry, parameters=True)
        server = await listen_rpc(options, access, context)
        if on_ready is not None:
            on_ready(server.port)
        await ended.wait()
        await server.stop(1.0)
        context.close()
        await registry.close()
