"""A gateway in one process: its listeners, its sessions, and its end."""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from orchestrator.settings import SettingsError
from workers.gateway.auth import Access, check_exposure, tls_context
from workers.gateway.contract import Director, GameSource, RunnerFactory, StepHandler
from workers.gateway.limits import Clock
from workers.gateway.metrics import GatewayMetrics
from workers.gateway.options import GatewayOptions
from workers.gateway.sessions import SessionTable
from workers.gateway.transports.front import Front
from workers.gateway.transports.http import HttpConnection
from workers.gateway.transports.tcp import TcpConnection

if TYPE_CHECKING:
    from workers.gateway.rpc.registry import ModelRegistry

BACKLOG = 4096
RPC_GRACE_SECONDS = 0.5
"""Calls over gRPC that are under way when a gateway stops have this long."""
DRAIN_SECONDS = 5.0
DRAIN_LOOKS = 250


class Gateway:
    """Listens for games and hands their steps to a session table, or to any other handler.

    async with Gateway(options) as gateway:
        gateway.play(director, make_runner)
        await gateway.listen()
        await gateway.wait()
    """

    def __init__(self, options: GatewayOptions, handler: StepHandler | None = None) -> None:
        self.options = options
        self.index = 0
        """This process among those that share the ports."""
        self.clock = Clock()
        self.metrics = GatewayMetrics()
        self.access = Access(options.tokens, options.trusted)
        check_exposure(options.host, self.access)
        self.tls = tls_context(options.tls_cert, options.tls_key)
        self.sessions: SessionTable | None = None
        self.front = Front(handler or _NoHandler(), self.clock, options.limits, self.metrics, self.access)
        self.ports: dict[str, int] = {}
        """The port of each transport that listens."""
        self.registry: ModelRegistry | None = None
        """The records that callers of gRPC's Policy may use; set before `listen`."""
        self._servers: list[asyncio.Server] = []
        self._at_stop: list[Callable[[], Awaitable[None]]] = []
        self._stopping = asyncio.Event()

    def play(self, director: Director, make_runner: RunnerFactory, games: GameSource | None = None) -> SessionTable:
        """Keep sessions, with the director's casts and what runs them."""
        self.sessions = SessionTable(
            director, make_runner, clock=self.clock, limits=self.options.limits, metrics=self.metrics
        )
        self.front.handler = self.sessions
        self.front.games = games
        return self.sessions

    @property
    def handler(self) -> StepHandler:
        """Takes the steps of further transports."""
        return self.front.handler

    def at_stop(self, close: Callable[[], Awaitable[None]]) -> None:
        """Call `close` when the gateway stops, last added first."""
        self._at_stop.append(close)

    async def __aenter__(self) -> Self:
        self.clock.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def listen(self, *, shared: bool = False) -> None:
        """Open the ports. `shared`: other processes listen on the same ones."""
        allow_many_files()
        loop = asyncio.get_running_loop()
        for name, port, connect in (
            ("http", self.options.http_port, HttpConnection),
            ("tcp", self.options.tcp_port, TcpConnection),
        ):
            if port is None:
                continue
            server = await loop.create_server(
                partial(connect, self.front),
                sock=listening_socket(self.options.host, port, shared=shared),
                ssl=self.tls,
                backlog=BACKLOG,
                ssl_handshake_timeout=self.options.limits.request_seconds if self.tls else None,
            )
            self._servers.append(server)
            self.ports[name] = server.sockets[0].getsockname()[1]
        if self.options.grpc_port is not None:
            await self._listen_rpc(shared)

    async def _listen_rpc(self, shared: bool) -> None:
        from workers.gateway.rpc.listening import listen_rpc  # imports grpc
        from workers.gateway.rpc.services import ServiceContext

        context = ServiceContext(front=self.front, registry=self.registry)
        server = await listen_rpc(self.options, self.access, context, shared=shared)
        self.ports["grpc"] = server.port

        async def close() -> None:
            await server.stop(RPC_GRACE_SECONDS)
            context.close()

        self.at_stop(close)

    async def wait(self) -> None:
        """Until somebody calls `end`."""
        await self._stopping.wait()

    def end(self) -> None:
        self._stopping.set()

    async def stop(self) -> None:
        """Close the ports, answer what is under way, abort what is still open."""
        for server in self._servers:
            server.close()
        if self.sessions is not None:
            self.sessions.abort_all("the gateway stops")
        self.front.connections.shut_all()
        for _ in range(DRAIN_LOOKS):
            if not len(self.front.connections):
                break
            await asyncio.sleep(DRAIN_SECONDS / DRAIN_LOOKS)
        for close in reversed(self._at_stop):
            await close()
        self._at_stop.clear()
        self.clock.stop()


class _NoHandler:
    """Stands in until `play` is called."""

    def handle(self, step: object, reply: object) -> None:
        raise RuntimeError("the gateway has neither a session table nor another handler: call play() first")


def listening_socket(host: str, port: int, *, shared: bool) -> socket.socket:
    """A bound socket without Nagle's delay, which its connections inherit; raises SettingsError."""
    try:
        return _bound_socket(host, port, shared=shared)
    except OSError as error:
        raise SettingsError(
            f"LANISTA_GATEWAY_HOST={host!r}: port {port} cannot be opened there: {error.strerror or error}. "
            "The ports are LANISTA_GATEWAY_PORT, LANISTA_GATEWAY_TCP_PORT and LANISTA_GATEWAY_GRPC_PORT."
        ) from None


def _bound_socket(host: str, port: int, *, shared: bool) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listener.bind(address)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def allow_many_files() -> None:
    """Raise the soft limit of open files, which is often 1,024, to the hard one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
