"""One supervised child: started, watched until ready, restarted with back-off, stopped with its whole group."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lanista.stack.home import ChildState, Home
from lanista.stack.processes import MARK, kill_group

FIRST_DELAY, LONGEST_DELAY = 0.25, 10.0
HEALTHY_AFTER = 60.0
"""A child that lived this long starts again with the first delay."""
FAILING_AFTER = 4
"""Deaths in a row after which `status` calls the child failing."""
LOG_LIMIT = 32 * 1024 * 1024


@dataclass(kw_only=True)
class ChildSpec:
    """How one part is started, known to be ready, and stopped."""

    name: str
    command: list[str]
    is_ready: Callable[[], Awaitable[bool]]
    environment: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    follows: str = ""
    """Restarted whenever this other child was: it cannot outlive it."""
    prepare: Callable[[], None] = lambda: None
    when_ready: Callable[[], None] = lambda: None
    """Runs after the part answers and before anything that needs it starts."""
    stop_signal: int = signal.SIGTERM
    identity: dict[str, Any] = field(default_factory=dict)
    address: str = ""
    ready_within: float = 60.0


Announce = Callable[[str, str], None]


class Child:
    """Keeps one part alive until told to stop."""

    def __init__(self, spec: ChildSpec, home: Home, announce: Announce) -> None:
        self.spec = spec
        self.state = ChildState(address=spec.address)
        self.ready = asyncio.Event()
        self.starts = 0
        self._home = home
        self._announce = announce
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False
        self._deaths_in_a_row = 0

    async def keep_alive(self, needs: list[Child]) -> None:
        """Start the part and restart it each time it dies, until `stop`."""
        while not self._stopping:
            for need in needs:
                await need.ready.wait()
            began = time.monotonic()
            ending = await self._live_once()
            if self._stopping:
                return
            self.ready.clear()
            lived = time.monotonic() - began
            self._deaths_in_a_row = 1 if lived > HEALTHY_AFTER else self._deaths_in_a_row + 1
            delay = min(LONGEST_DELAY, FIRST_DELAY * 2 ** (self._deaths_in_a_row - 1))
            self.state.restarts += 1
            failing = self._deaths_in_a_row >= FAILING_AFTER
            self._change("failing" if failing else "restarting", last_exit=ending, pid=None)
            self._announce(self.spec.name, f"{ending}; restarting in {delay:g} s (restart {self.state.restarts})")
            await asyncio.sleep(delay)

    async def _live_once(self) -> str:
        """One life of the part; returns how it ended, in words."""
        try:
            await asyncio.to_thread(self.spec.prepare)
            self._process = await self._spawn()
        except Exception as error:
            return f"could not be started: {error}"
        self.starts += 1
        self._change("starting", pid=self._process.pid)
        process = self._process
        death = asyncio.create_task(process.wait())
        rising = asyncio.create_task(self._rise())
        try:
            await asyncio.wait([death, rising], return_when=asyncio.FIRST_COMPLETED)
            if rising.done() and (problem := rising.result()):
                return problem
            if rising.done():
                self.ready.set()
                self._change("ready")
            await death
            return _ending(process.returncode)
        finally:
            rising.cancel()
            # grandchildren must not outlive the part they belong to
            kill_group(process.pid, signal.SIGKILL)
            await death

    async def _rise(self) -> str:
        """Wait until the part is ready; returns what is wrong if it does not get there."""
        deadline = time.monotonic() + self.spec.ready_within
        while not await self.spec.is_ready():
            if time.monotonic() > deadline:
                return f"not ready within {self.spec.ready_within:g} s"
            await asyncio.sleep(0.1)
        try:
            await asyncio.to_thread(self.spec.when_ready)
        except Exception as error:
            return f"could not be set up: {error}"
        return ""

    async def _spawn(self) -> asyncio.subprocess.Process:
        ready_file = self._home.ready_file(self.spec.name)
        ready_file.unlink(missing_ok=True)
        environment = {
            **os.environ,
            **self.spec.environment,
            MARK: str(self._home.root),
            "LANISTA_READY_FILE": str(ready_file),
        }
        self.shorten_log()
        with self._home.log_file(self.spec.name).open("ab") as log_file:
            return await asyncio.create_subprocess_exec(
                *self.spec.command,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log_file,
                stderr=log_file,
                start_new_session=True,
                **self.spec.identity,
            )

    def shorten_log(self) -> None:
        """Keep at most one old log beside the present one; safe while open, because children append."""
        path = self._home.log_file(self.spec.name)
        if path.exists() and path.stat().st_size > LOG_LIMIT:
            path.with_suffix(".log.1").write_bytes(path.read_bytes())
            os.truncate(path, 0)

    def restart(self) -> None:
        """End this life; `keep_alive` begins the next."""
        if self._process and self._process.returncode is None:
            self.ready.clear()
            kill_group(self._process.pid, signal.SIGKILL)

    async def stop(self, patience: float = 10.0) -> None:
        self._stopping = True
        process = self._process
        if process and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(self.spec.stop_signal)
            try:
                await asyncio.wait_for(process.wait(), patience)
            except TimeoutError:
                kill_group(process.pid, signal.SIGKILL)
                await process.wait()
        self._change("stopped", pid=None)

    def _change(self, state: str, **values: Any) -> None:
        self.state.state = state
        self.state.since = datetime.now(UTC).isoformat(timespec="seconds")
        for name, value in values.items():
            setattr(self.state, name, value)
        self._announce(self.spec.name, "")


def _ending(code: int | None) -> str:
    if code is None:
        return "ended"
    if code < 0:
        return f"died of {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
