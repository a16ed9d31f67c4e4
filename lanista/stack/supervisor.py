"""The supervisor: starts the parts in order, keeps them alive, writes down how they are, ends them all."""

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

import psutil
import structlog

from lanista.settings import StackSettings
from lanista.stack.child import Child
from lanista.stack.errors import AlreadyRunning
from lanista.stack.home import Home, StackState, write_atomically
from lanista.stack.parts import Parts
from lanista.stack.ports import require_free
from lanista.stack.processes import end_leftovers

log = structlog.get_logger()

Say = Callable[[str], None]


class Supervisor:
    """One run of the local stack, from taking the folder's lock to the last child's end."""

    def __init__(self, settings: StackSettings, *, say: Say, bootstrap: Callable[[str, Home], None]) -> None:
        """`bootstrap(database_url, home)` migrates the database and makes what a first start needs."""
        self.home = Home(settings.home)
        self._settings = settings
        self._say = say
        self._bootstrap = bootstrap
        self._children: dict[str, Child] = {}
        self._state: StackState | None = None
        self._stop = asyncio.Event()
        self._began = time.monotonic()
        self._was_ready = False
        self._led_by: dict[str, int] = {}
        """For each child that follows another: which start of the other it belongs to."""

    async def run(self) -> None:
        """Run until a signal or `stop`; raises AlreadyRunning when another supervisor has this folder."""
        self.home.create()
        lock = self.home.try_lock()
        if lock is None:
            raise AlreadyRunning(where_it_runs(self.home))
        with lock:
            await self._run_locked()

    async def _run_locked(self) -> None:
        ended = await asyncio.to_thread(end_leftovers, self.home)
        if ended:
            self._say(f"ended {ended} processes that an earlier run left behind")
        require_free(self._settings.port, host=self._settings.host, flag="--port (or LANISTA_PORT)")
        parts = await asyncio.to_thread(Parts, self._settings, self.home)
        write_atomically(self.home.run / "environment.json", json.dumps(parts.environment()))
        self._state = self._first_state(parts)
        for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(signum, self.stop)

        def bootstrap() -> None:
            self._bootstrap(parts.database_url, self.home)

        if parts.postgres is None:
            await asyncio.to_thread(bootstrap)
        self._children = {spec.name: Child(spec, self.home, self._announce) for spec in parts.specs(migrate=bootstrap)}
        self._write_state()
        try:
            await self._supervise()
        finally:
            await self._end_all()

    def _first_state(self, parts: Parts) -> StackState:
        return StackState(
            pid=os.getpid(),
            created=psutil.Process().create_time(),
            page=parts.page,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            links=parts.links,
        )

    async def _supervise(self) -> None:
        lives = [asyncio.create_task(self._keep(child)) for child in self._children.values()]
        background = [*lives, asyncio.create_task(self._tend_logs())]
        stopping = asyncio.create_task(self._stop.wait())
        try:
            done, _ = await asyncio.wait([*background, stopping], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()  # a bug in the supervisor itself must not pass for a wish to stop
        finally:
            for task in (*background, stopping):
                task.cancel()
            await asyncio.gather(*background, stopping, return_exceptions=True)

    async def _keep(self, child: Child) -> None:
        await child.keep_alive([self._children[need] for need in child.spec.needs])

    def _react(self) -> None:
        """Called on every change: restart followers of a restarted part, say when all is ready."""
        for child in self._children.values():
            leader = self._children.get(child.spec.follows)
            if leader is None:
                continue
            if child.state.state == "starting":
                self._led_by[child.spec.name] = leader.starts
            elif leader.ready.is_set() and self._led_by.get(child.spec.name, leader.starts) != leader.starts:
                self._led_by[child.spec.name] = leader.starts
                self._say(f"{child.spec.name}: restarting, because {leader.spec.name} was restarted")
                child.restart()
        self._report()

    def _report(self) -> None:
        """Say once that everything is ready, and again after a time when it was not."""
        assert self._state is not None
        ready = all(child.ready.is_set() for child in self._children.values())
        if ready and not self._state.ready:
            took = time.monotonic() - self._began
            self._say("all parts are ready again" if self._was_ready else f"ready in {took:.1f} s: {self._state.page}")
            self._was_ready = True
        self._state.ready = ready

    async def _tend_logs(self) -> None:
        while True:
            await asyncio.sleep(60)
            for child in self._children.values():
                await asyncio.to_thread(child.shorten_log)

    async def _end_all(self) -> None:
        """Users of a part go before the part itself."""
        self._say("stopping")
        served = {need for child in self._children.values() for need in child.spec.needs}
        users = [child for name, child in self._children.items() if name not in served]
        await asyncio.gather(*(child.stop() for child in users))
        await asyncio.gather(*(child.stop() for child in self._children.values() if child not in users))
        await asyncio.to_thread(end_leftovers, self.home, patience=3.0)
        await asyncio.to_thread(shutil.rmtree, self.home.scratch, ignore_errors=True)
        if self._state:
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
        if self._state is None:
            return
        self._state.children = {name: child.state for name, child in self._children.items()}
        with contextlib.suppress(OSError):  # a full disk must not stop the supervisor from restarting children
            write_atomically(self.home.state_file, self._state.to_json())


def where_it_runs(home: Home) -> str:
    """One sentence for a person who starts what runs already."""
    state = home.read_state()
    if state is None:
        return f"Lanista is starting already with the data folder {home.root}."
    return (
        f"Lanista runs already: {state.page} (supervisor {state.pid}, since {state.started}, "
        f"data folder {home.root}). `lanista down` stops it."
    )
