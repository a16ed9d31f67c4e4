"""The supervisor: starts the parts in order, restarts them, writes their state, and stops them.

See docs/decisions/embedded-stack.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime

from lanista.settings import StackSettings
from lanista.stack.errors import AlreadyRunning
from lanista.stack.external import check_external
from lanista.stack.home import Home, StackState, write_atomically
from lanista.stack.logs import rotate_log
from lanista.stack.parts import Parts, page_of
from lanista.stack.ports import require_free
from lanista.stack.processes.child import Child
from lanista.stack.processes.leftovers import end_leftovers
from lanista.stack.processes.worker_user import AS_ROOT

Say = Callable[[str], None]


class Supervisor:
    """One run of the local stack, from taking the data folder's lock to the end of the last child."""

    def __init__(
        self,
        settings: StackSettings,
        *,
        say: Say,
        bootstrap: Callable[[str, Home], None],
        on_ready: Callable[[StackState], None] | None = None,
    ) -> None:
        """`bootstrap(database_url, home)` migrates the database and makes the admin token.

        `on_ready` is called in a separate thread when everything is ready for the first time.
        """
        self.home = Home(settings.home)
        self._settings = settings
        self._say = say
        self._bootstrap = bootstrap
        self._on_ready = on_ready
        self._children: dict[str, Child] = {}
        self._state = StackState(
            pid=os.getpid(), page=page_of(settings), started=datetime.now(UTC).isoformat(timespec="seconds")
        )
        self._stop = asyncio.Event()
        self._began = time.monotonic()
        self._was_ready = False
        self._led_by: dict[str, tuple[int, int]] = {}
        """For each child that follows another: the number of its own start, and of the other's start before it."""

    async def run(self) -> None:
        """Run until a signal or `stop`; raises AlreadyRunning if another supervisor holds the data folder."""
        self.home.create()
        lock = self.home.try_lock()
        if lock is None:
            raise AlreadyRunning(describe_running_stack(self.home))
        with lock:
            try:
                await self._run_locked()
            finally:
                await asyncio.to_thread(shutil.rmtree, self.home.scratch, ignore_errors=True)

    async def _run_locked(self) -> None:
        self._write_state()  # at once, so that `status` and a second `up` see this run and not the previous one
        ended = await asyncio.to_thread(end_leftovers, self.home, at_once=True)
        if ended:
            self._say(f"ended {ended} processes that an earlier run left behind")
        require_free(self._settings.port, host=self._settings.host, flag="--port (or LANISTA_PORT)")
        await check_external(self._settings)
        parts = await asyncio.to_thread(Parts, self._settings, self.home)
        if os.getuid() == 0 and parts.worker_user is None:
            self._say(f"warning: {AS_ROOT}")
        write_atomically(self.home.run / "environment.json", json.dumps(parts.environment()))
        self._state.links = parts.links

        def bootstrap() -> None:
            self._bootstrap(parts.database_url, self.home)

        if parts.postgres is None:
            await asyncio.to_thread(bootstrap)
        self._children = {spec.name: Child(spec, self.home, self._announce) for spec in parts.specs(migrate=bootstrap)}
        self._write_state()
        for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(signum, self.stop)
        try:
            await self._supervise()
        finally:
            await self._end_all()

    async def _supervise(self) -> None:
        lives = [child.start([self._children[need] for need in child.spec.needs]) for child in self._children.values()]
        watched = [*lives, asyncio.create_task(self._rotate_logs()), asyncio.create_task(self._stop.wait())]
        try:
            done, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()  # raises the error of a bug in the supervisor, which is not a request to stop
        finally:
            for task in watched[len(lives) :]:  # the children's own tasks end in `stop`
                task.cancel()

    def _react(self) -> None:
        """Called on every change: restarts followers of a restarted part, and reports readiness."""
        for name, child in self._children.items():
            leader = self._children.get(child.spec.follows)
            if leader is None:
                continue
            own_start, leaders_start = self._led_by.get(name, (0, 0))
            if own_start != child.starts:
                self._led_by[name] = (child.starts, leader.starts)
            elif own_start and leader.ready.is_set() and leaders_start != leader.starts:
                self._led_by[name] = (child.starts, leader.starts)
                self._say(f"{name}: restarting, because {leader.spec.name} was restarted")
                child.restart()
        self._report()

    def _report(self) -> None:
        """Report when everything becomes ready."""
        ready = all(child.ready.is_set() for child in self._children.values())
        if ready and not self._state.ready:
            took = time.monotonic() - self._began
            self._say("all parts are ready again" if self._was_ready else f"ready in {took:.1f} s: {self._state.page}")
            if self._on_ready and not self._was_ready:
                asyncio.get_running_loop().run_in_executor(None, self._on_ready, self._state)
            self._was_ready = True
        self._state.ready = ready

    async def _rotate_logs(self) -> None:
        while True:
            await asyncio.sleep(60)
            for name in ("supervisor", *self._children):
                await asyncio.to_thread(rotate_log, self.home.log_file(name))

    async def _end_all(self) -> None:
        """Stop every child; those that need another part are stopped before it."""
        self._say("stopping")
        self._state.note = "stopping"
        served = {need for child in self._children.values() for need in child.spec.needs}
        users = [child for name, child in self._children.items() if name not in served]
        await asyncio.gather(*(child.stop() for child in users))
        await asyncio.gather(*(child.stop() for child in self._children.values() if child not in users))
        await asyncio.to_thread(end_leftovers, self.home, patience=3.0)
        self._state.ready, self._state.note = False, "stopped"
        self._write_state()
        self._say("stopped")

    def stop(self) -> None:
        self._stop.set()

    def _announce(self, child: str, message: str) -> None:
        if message:
            self._say(f"{child}: {message}")
        self._react()
        self._write_state()

    def _write_state(self) -> None:
        self._state.children = {name: child.state for name, child in self._children.items()}
        with contextlib.suppress(OSError):  # a full disk must not stop the supervisor from restarting children
            write_atomically(self.home.state_file, self._state.to_json())


def describe_running_stack(home: Home) -> str:
    """Tells a user who starts a stack that one is already running with this data folder."""
    state = home.live_state()
    if state is None:
        return f"Lanista is starting or stopping with the data folder {home.root}; see `lanista status`."
    return (
        f"Lanista is running already: {state.page} (supervisor {state.pid}, since {state.started}, "
        f"data folder {home.root}). `lanista down` stops it."
    )
