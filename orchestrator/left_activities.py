"""Activities that a killed worker left behind: its successor on the same machine reports them as failed.

Temporal notices a worker's death only by silence: an activity without heartbeats is tried again when its time limit has
passed. So a worker keeps the token of each activity under way as a file in a folder of its own process. The next
process of the same part finds the folders of dead ones and fails what is in them; the server then retries at once. A
token of an attempt that is over is refused by the server, so a late report changes nothing.

See docs/decisions/temporal.md.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import structlog
from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from orchestrator.contracts.errors import Failure
from orchestrator.worker_process import READY_FILE

log = structlog.get_logger()


def journal_folder() -> Path | None:
    """Where this part keeps the tokens of its activities; None where no supervisor restarts it here."""
    ready = os.environ.get(READY_FILE)
    return Path(ready).with_suffix(".activities") if ready else None


class ActivityJournal(Interceptor):
    """Keeps a file for each activity under way in this process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = folder / _name(psutil.Process())
        self._numbers = count()
        self._own.mkdir(parents=True, exist_ok=True)

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Noted(next, self)

    @contextmanager
    def noted(self, token: bytes) -> Iterator[None]:
        """Keep the token while the activity runs; a disk that is full only costs the faster retry."""
        file = self._own / str(next(self._numbers))
        with suppress(OSError):
            file.write_bytes(token)
        try:
            yield
        finally:
            with suppress(OSError):
                file.unlink(missing_ok=True)

    async def fail_left_behind(self, client: Client) -> int:
        """Fail the activities of this part's dead processes; returns how many the server still waited for."""
        failed = 0
        for folder in sorted(self._folder.iterdir()):
            if folder == self._own or _lives(folder.name):
                continue
            for file in sorted(folder.iterdir()):
                failed += await _fail(client, file.read_bytes())
            shutil.rmtree(folder, ignore_errors=True)
        if failed:
            log.info("activities of a killed worker are tried again", count=failed)
        return failed


class _Noted(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, journal: ActivityJournal) -> None:
        super().__init__(next)
        self._journal = journal

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        with self._journal.noted(activity.info().task_token):
            return await super().execute_activity(input)


async def _fail(client: Client, token: bytes) -> bool:
    if not token:  # killed while the file was written
        return False
    error = ApplicationError("the worker was killed", type=Failure.WORKER_LOST)
    try:
        await client.get_async_activity_handle(task_token=token).fail(error)
    except RPCError as refused:  # over, or its workflow is
        log.debug("an activity of a killed worker is over", status=refused.status.name)
        return False
    return True


def _name(process: psutil.Process) -> str:
    """A process's name that no later one has, also with the same pid."""
    return f"{process.pid}-{process.create_time():.2f}"


def _lives(name: str) -> bool:
    pid = name.partition("-")[0]
    try:
        process = psutil.Process(int(pid))
        return _name(process) == name and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, ValueError):
        return False
