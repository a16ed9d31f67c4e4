"""Runs a gateway: its event loop in this process, or several processes that share its ports."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from multiprocessing.context import SpawnProcess
from pathlib import Path

import uvloop

from workers.gateway.auth import Access, check_exposure, tls_context
from workers.gateway.options import GatewayOptions
from workers.gateway.server import Gateway, listening_socket
from workers.gateway.siblings import SiblingGames, Siblings

__all__ = ["Build", "Gateway", "GatewayOptions", "join_siblings", "run_gateway"]

log = logging.getLogger(__name__)

Build = Callable[[Gateway], Awaitable[None]]
"""Gives a gateway what plays in it, by `gateway.play`, before its ports are opened. Of several processes each calls it,
so that it must pickle: a function of a module, or an object of such a class."""
OnReady = Callable[[dict[str, int]], None]
Prepare = Callable[[], None]
"""Such as the log's configuration; must pickle too."""

RESTART_SECONDS = 1.0
"""A process that ended is started again after this long, and after twice as long if it ended at once."""
STOP_SECONDS = 10.0
COLLECT_SECONDS = 600.0
YOUNG_OBJECTS = 2_000
NEVER = 1_000_000_000


def run_gateway(
    options: GatewayOptions, build: Build, *, on_ready: OnReady | None = None, prepare: Prepare | None = None
) -> None:
    """Run until SIGTERM or SIGINT. `on_ready` gets the ports, once open; `prepare` runs first in each process."""
    check_exposure(options.host, Access(options.tokens, options.trusted))
    tls_context(options.tls_cert, options.tls_key)
    if options.processes == 1:
        if prepare is not None:
            prepare()
        uvloop.run(_serve(options, build, on_ready))
    else:
        _Parent(options, build, prepare).run(on_ready)


async def _serve(options: GatewayOptions, build: Build, on_ready: OnReady | None) -> None:
    async with Gateway(options) as gateway:
        _end_by_signals(gateway)
        await build(gateway)
        _end_by_signals(gateway)  # again: if the build joins Ray, Ray has installed a handler that aborts
        await gateway.listen()
        settle_memory(gateway)
        if on_ready is not None:
            on_ready(gateway.ports)
        await gateway.wait()


def _end_by_signals(gateway: Gateway) -> None:
    for signum in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signum, gateway.end)


def settle_memory(gateway: Gateway) -> None:
    """Keep full garbage collections out of the way of ticks: they pause for 28 to 139 ms with torch loaded.

    What is loaded by now is left out of them, and they are made every ten minutes, not whenever sessions come and go:
    with ten thousand sessions one takes about a tenth of a second.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 10, NEVER)
    last = gateway.clock.now

    def look(now: float) -> None:
        nonlocal last
        if now - last > COLLECT_SECONDS:
            last = now
            gc.collect()

    gateway.clock.each_tick(look)


# Several processes


class _Parent:
    """Starts the processes of a gateway, and starts those again that end."""

    def __init__(self, options: GatewayOptions, build: Build, prepare: Prepare | None) -> None:
        self._build, self._prepare = build, prepare
        self._held = _hold_ports(options)
        self._options = replace(options, **{name: held.getsockname()[1] for name, held in self._held.items()})
        self._context = multiprocessing.get_context("spawn")
        self._children: dict[int, SpawnProcess] = {}
        self._started: dict[int, float] = {}
        self._stopping = False

    def run(self, on_ready: OnReady | None) -> None:
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, self._stop)
        with tempfile.TemporaryDirectory(prefix="lanista-gateway-") as folder:
            ready = self._context.Semaphore(0)
            for index in range(self._options.processes):
                self._start(index, Path(folder), ready)
            for _ in range(self._options.processes):
                while not ready.acquire(timeout=0.2) and not self._stopping:
                    self._refuse_ended()
            if on_ready is not None and not self._stopping:
                names = {"http_port": "http", "tcp_port": "tcp", "grpc_port": "grpc"}
                on_ready({names[name]: held.getsockname()[1] for name, held in self._held.items()})
            while not self._stopping:
                self._restart_ended(Path(folder), ready)
                time.sleep(0.2)
            self._end_all()

    def _stop(self, signum: int, frame: object) -> None:
        self._stopping = True

    def _start(self, index: int, folder: Path, ready: object) -> None:
        child = self._context.Process(
            target=_child,
            args=(self._options, self._build, self._prepare, index, folder, ready),
            name=f"gateway-{index}",
        )
        child.start()
        self._children[index] = child
        self._started[index] = time.monotonic()

    def _refuse_ended(self) -> None:
        """A process that ends before it was ready would end again."""
        for index, child in self._children.items():
            if not child.is_alive():
                self._end_all()
                raise SystemExit(
                    f"Gateway process {index} ended with {child.exitcode} before it was ready; see its log."
                )

    def _restart_ended(self, folder: Path, ready: object) -> None:
        for index, child in list(self._children.items()):
            if child.is_alive() or self._stopping:
                continue
            log.warning("gateway process %d ended with %s: it is started again", index, child.exitcode)
            time.sleep(RESTART_SECONDS * (2 if time.monotonic() - self._started[index] < 10 else 1))
            if not self._stopping:
                self._start(index, folder, ready)

    def _end_all(self) -> None:
        for child in self._children.values():
            child.terminate()
        ends = time.monotonic() + STOP_SECONDS
        for child in self._children.values():
            child.join(max(0.0, ends - time.monotonic()))
            if child.is_alive():
                child.kill()
                child.join()
        for held in self._held.values():
            held.close()


def _hold_ports(options: GatewayOptions) -> dict[str, socket.socket]:
    """Bind each port without listening, so that all processes get the same one where any free one is wanted."""
    ports = {"http_port": options.http_port, "tcp_port": options.tcp_port, "grpc_port": options.grpc_port}
    return {name: listening_socket(options.host, port, shared=True) for name, port in ports.items() if port is not None}


def _child(
    options: GatewayOptions, build: Build, prepare: Prepare | None, index: int, folder: Path, ready: object
) -> None:
    if prepare is not None:
        prepare()
    with contextlib.suppress(KeyboardInterrupt):
        uvloop.run(_serve_one_of_several(options, build, index, folder, ready))


async def _serve_one_of_several(options: GatewayOptions, build: Build, index: int, folder: Path, ready: object) -> None:
    async with Gateway(options) as gateway:
        gateway.index = index
        _end_by_signals(gateway)
        _end_with_parent(gateway)
        await build(gateway)
        _end_by_signals(gateway)
        await join_siblings(gateway, index, folder)
        await gateway.listen(shared=True)
        settle_memory(gateway)
        ready.release()  # type: ignore[attr-defined]
        await gateway.wait()


async def join_siblings(gateway: Gateway, index: int, folder: Path) -> None:
    """Let the processes of a gateway find each other's sessions, by sockets in `folder`."""
    assert gateway.sessions is not None, "build() must call gateway.play()"
    siblings = Siblings(gateway.sessions, gateway.metrics, index, gateway.options.processes, folder)
    await siblings.start()
    gateway.at_stop(siblings.stop)
    await siblings.linked()
    gateway.front.handler = siblings
    gateway.front.collect_metrics = siblings.collect_metrics
    if gateway.front.games is not None:
        gateway.front.games = SiblingGames(gateway.front.games, index)


def _end_with_parent(gateway: Gateway) -> None:
    parent = os.getppid()

    def look(now: float) -> None:
        if os.getppid() != parent:
            gateway.end()

    gateway.clock.each_tick(look)
