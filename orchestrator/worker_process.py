"""Runs Temporal workers in a process: signals, readiness, graceful shutdown."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog
from temporalio.worker import Worker

log = structlog.get_logger()

READY_FILE = "LANISTA_READY_FILE"
"""The variable with the path of a file; the process writes its id there once it serves."""
TOUCH_SECONDS = 10.0
"""A worker that serves touches the file this often: a probe that finds it old may have the process started anew."""


def retract_ready() -> None:
    """Take back what an earlier process announced: the file may outlive it, as in a container that is started anew."""
    if (path := os.environ.get(READY_FILE)) and os.path.exists(path):
        Path(path).write_text("")


def announce_ready() -> None:
    """Tell the supervisor that this process serves."""
    if path := os.environ.get(READY_FILE):
        Path(path).write_text(str(os.getpid()))


async def run_workers(
    workers: Sequence[Worker], *, role: str, settle: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Run Temporal workers until SIGTERM or SIGINT, or until one of them fails, which ends the process.

    `settle` is awaited when all of them poll; the process is ready after it, and ends where it raises.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    running = [asyncio.create_task(worker.run()) for worker in workers]
    stopping = asyncio.create_task(stop.wait())
    everything: list[asyncio.Task[Any]] = [*running, stopping]
    problem: BaseException | None = None
    # a worker runs only after the server has confirmed its namespace
    while not all(worker.is_running for worker in workers):
        if (await asyncio.wait(everything, timeout=0.05, return_when=asyncio.FIRST_COMPLETED))[0]:
            break
    else:
        problem = await _get_ready(everything, workers, settle)
    touching = asyncio.create_task(_touch_ready_file())
    if problem is None:
        await asyncio.wait(everything, return_when=asyncio.FIRST_COMPLETED)
    log.info("worker stopping", role=role)
    await asyncio.gather(*(worker.shutdown() for worker in workers))
    touching.cancel()
    stopping.cancel()
    await asyncio.gather(*running)
    if problem is not None:
        raise problem


async def _get_ready(
    others: Sequence[asyncio.Task[Any]], workers: Sequence[Worker], settle: Callable[[], Awaitable[None]] | None
) -> BaseException | None:
    """What `settle` raised; nothing where one of the other tasks ends first, since all of it ends then."""
    ready = asyncio.create_task(_become_ready(workers, settle))
    await asyncio.wait([*others, ready], return_when=asyncio.FIRST_COMPLETED)
    if ready.done():
        return ready.exception()
    ready.cancel()
    return None


async def _become_ready(workers: Sequence[Worker], settle: Callable[[], Awaitable[None]] | None) -> None:
    if settle is not None:
        await settle()
    announce_ready()
    log.info("worker ready", queues=sorted({worker.task_queue for worker in workers}))


async def _touch_ready_file() -> None:
    """Show that the event loop runs."""
    while path := os.environ.get(READY_FILE):
        await asyncio.sleep(TOUCH_SECONDS)
        with suppress(OSError):  # gone, or another user's: the probe will tell
            os.utime(path)
