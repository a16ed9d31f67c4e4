"""Terminates TLS before a server that speaks none, and lets nobody in without a certificate of its CA."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.integration.temporal_server.certificates import Issued


@asynccontextmanager
async def tls_proxy(upstream: str, *, server: Issued, clients_of: Issued) -> AsyncIterator[str]:
    """host:port of a proxy with the certificate `server` that asks for client certificates signed by `clients_of`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.cert, server.key)
    context.load_verify_locations(clients_of.cert)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["h2"])
    host, _, port = upstream.rpartition(":")
    links: set[asyncio.Task[None]] = set()

    async def link(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        links.add(task)
        task.add_done_callback(links.discard)
        there, onward = await asyncio.open_connection(host, int(port))
        await asyncio.gather(_copy(reader, onward), _copy(there, writer))

    listening = await asyncio.start_server(link, "127.0.0.1", 0, ssl=context)
    try:
        yield f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    finally:
        listening.close()
        for task in list(links):
            task.cancel()
        await asyncio.gather(*links, return_exceptions=True)


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        with suppress(OSError, ssl.SSLError):
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
    finally:
        sink.close()
