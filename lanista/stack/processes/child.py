"""One supervised child process: started, checked until ready, restarted with back-off, stopped with its group."""

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

import psutil

from lanista.stack.errors import StillStarting
from lanista.stack.home import ChildState, Home
from lanista.stack.logs import rotate_log
from lanista.stack.processes.child_environment import base_environment
from lanista.stack.processes.leftovers import MARK, kill_group

PRIVATE = 0o077
"""The umask of every part: what it writes is for its own user only."""
FIRST_DELAY, LONGEST_DELAY = 0.25, 10.0
HEALTHY_AFTER = 60.0
"""Seconds. After a run this long the back-off starts from the first delay."""
LEAST_CPU_SECONDS = 0.5
"""CPU time by which a process that is not ready yet shows that it is only slow."""
LONGEST_START = 1800.0
"""Seconds; a part that computes for so long without becoming ready is started again all the same."""
FAILING_AFTER = 4
"""Consecutive exits after which `status` calls the child failing."""


@dataclass(kw_only=True)
class ChildSpec:
    """How one part is started, checked for readiness, and stopped."""

    name: str
    command: list[str]
    is_ready: Callable[[], Awaitable[bool]]
    """May raise StillStarting, which restarts the part's timeout."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables in addition to `base_environment`; everything else of the supervisor's environment stays out."""
    needs: tuple[str, ...] = ()
    follows: str = ""
    """The child after whose restart this one is restarted as well."""
    prepare: Callable[[], None] = lambda: None
    when_ready: Callable[[], None] = lambda: None
    """Called when the part is ready, before the parts that need it start."""
    stop_signal: int = signal.SIGTERM
    identity: dict[str, Any] = field(default_factory=dict)
    address: str = ""
    ready_within: float = 180.0
    """Seconds after which a part is started again, unless its process still computes: its imports alone take minutes on
    a machine with much other work, and a part that is ended during them would begin them anew, for ever."""


Announce = Callable[[str, str], None]


class NotReady(Exception):
    """The process runs but does not become ready; the message says why."""


class Child:
    """Keeps one part alive from `start` to `stop`."""

    def __init__(self, spec: ChildSpec, home: Home, announce: Announce) -> None:
        self.spec = spec
        self.state = ChildState(address=spec.address)
        self.ready = asyncio.Event()
        self.starts = 0
        self._home = home
        self._announce = announce
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._consecutive_exits = 0
        self._cpu_seconds = 0.0

    def start(self, needs: list[Child]) -> asyncio.Task[None]:
        """Start the part and keep it running; the task ends after `stop`, or with an error that is a bug."""
        self._task = asyncio.create_task(self._keep_alive(needs), name=self.spec.name)
        return self._task

    async def _keep_alive(self, needs: list[Child]) -> None:
        while not self._stopping:
            for need in needs:
                await need.ready.wait()
            began = time.monotonic()
            try:
                ending, never_ready = await self._run_once(), False
            except NotReady as error:
                ending, never_ready = str(error), True
            self.ready.clear()
            if self._stopping:
                return
            lived = time.monotonic() - began
            self._consecutive_exits = 1 if lived > HEALTHY_AFTER and not never_ready else self._consecutive_exits + 1
            delay = min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** min(self._consecutive_exits - 1, 10))
            self.state.restarts += 1
            # a part that hangs until its timeout is failing at once; one that exits early gets several attempts
            failing = never_ready or self._consecutive_exits >= FAILING_AFTER
            self._change("failing" if failing else "restarting", last_exit=ending, pid=None, started=None)
            self._announce(self.spec.name, f"{ending}; restarting in {delay:g} s (restart {self.state.restarts})")
            await asyncio.sleep(delay)

    async def _run_once(self) -> str:
        """Run the part once; returns how it ended, in words."""
        try:
            await asyncio.to_thread(self.spec.prepare)
            self._process = process = await self._spawn()
        except Exception as error:  # whatever the reason, the next attempt comes after the back-off
            return f"could not be started: {error}"
        self.starts += 1
        self._cpu_seconds = 0.0
        # a failing part is shown as failing until it is ready, also while it is retried
        self._change(
            "failing" if self.state.state == "failing" else "starting",
            pid=process.pid,
            started=_start_time(process.pid),
        )
        death = asyncio.create_task(process.wait())
        becoming_ready = asyncio.create_task(self._wait_until_ready())
        try:
            await asyncio.wait([death, becoming_ready], return_when=asyncio.FIRST_COMPLETED)
            if becoming_ready.done():
                becoming_ready.result()
                self.ready.set()
                self._change("ready")
            await asyncio.shield(death)
            return _ending(process.returncode)
        finally:
            becoming_ready.cancel()
            # descendants must not outlive the part
            kill_group(process.pid, signal.SIGKILL)
            await death

    async def _wait_until_ready(self) -> None:
        """Wait until the part is ready; raises NotReady if it does not become ready."""
        deadline = usual = time.monotonic() + self.spec.ready_within
        before, said = self.state.state, False
        try:
            while True:
                try:
                    if await self.spec.is_ready():
                        break
                    self._set_state(before)
                except StillStarting as progress:
                    deadline = time.monotonic() + self.spec.ready_within
                    self._set_state("recovering")  # commands that wait for the stack keep waiting in this state
                    if time.monotonic() > usual and not said:
                        said = True
                        self._announce(self.spec.name, f"takes longer than usual, still waiting: {progress}")
                deadline = self._checked(deadline, usual)
                await asyncio.sleep(0.1)
            await asyncio.to_thread(self.spec.when_ready)
        except NotReady:
            raise
        except Exception as error:  # for example a refused password or a failed migration
            raise NotReady(f"could not be set up: {error}") from error

    def _checked(self, deadline: float, usual: float) -> float:
        """The deadline, a later one if it has passed while the process computes; else raises NotReady."""
        now = time.monotonic()
        if now <= deadline:
            return deadline
        if now < usual + LONGEST_START and self._computes():
            return now + self.spec.ready_within
        raise NotReady(f"not ready within {self.spec.ready_within:g} s")

    def _computes(self) -> bool:
        """Whether the process has used CPU time since this was last asked; one that hangs uses none."""
        try:
            times = psutil.Process(self._process.pid).cpu_times() if self._process else None
        except psutil.Error:
            return False
        used = times.user + times.system if times else 0.0
        before, self._cpu_seconds = self._cpu_seconds, used
        return used - before > LEAST_CPU_SECONDS

    async def _spawn(self) -> asyncio.subprocess.Process:
        ready_file = self._home.ready_file(self.spec.name)
        ready_file.unlink(missing_ok=True)
        if "user" in self.spec.identity:  # that user may write the file, but not the folder
            ready_file.touch(mode=0o600)
            os.chown(ready_file, self.spec.identity["user"], -1)
        environment = {
            **base_environment(os.environ),
            **self.spec.environment,
            MARK: str(self._home.root),
            "LANISTA_READY_FILE": str(ready_file),
        }
        rotate_log(self._home.log_file(self.spec.name))
        with self._home.log_file(self.spec.name).open("ab") as log_file:
            return await asyncio.create_subprocess_exec(
                *self.spec.command,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log_file,
                stderr=log_file,
                start_new_session=True,
                **{"umask": PRIVATE, **self.spec.identity},
            )

    def restart(self) -> None:
        """Kill the process; it is started again automatically."""
        if self._process and self._process.returncode is None:
            self.ready.clear()
            kill_group(self._process.pid, signal.SIGKILL)

    async def stop(self, patience: float = 10.0) -> None:
        """Stop the part, first by its stop signal, then by SIGKILL, and do not restart it."""
        self._stopping = True
        process = self._process
        if process and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(self.spec.stop_signal)
            try:
                await asyncio.wait_for(process.wait(), patience)
            except TimeoutError:
                self._announce(self.spec.name, f"did not stop within {patience:g} s and is killed")
                kill_group(process.pid, signal.SIGKILL)
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._change("stopped", pid=None, started=None)

    def _set_state(self, state: str) -> None:
        if self.state.state != state:
            self._change(state)

    def _change(self, state: str, **values: Any) -> None:
        self.state.state = state
        self.state.since = datetime.now(UTC).isoformat(timespec="seconds")
        for name, value in values.items():
            setattr(self.state, name, value)
        self._announce(self.spec.name, "")


def _start_time(pid: int) -> float | None:
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:  # it has ended already
        return None


def _ending(code: int | None) -> str:
    if code is None:
        return "ended"
    if code < 0:
        return f"died of {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
