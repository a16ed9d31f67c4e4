"""One supervised child, with tiny programs in the place of the real parts."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from lanista.stack.errors import StillStarting
from lanista.stack.home import Home
from lanista.stack.processes import child as child_module
from lanista.stack.processes.child import FAILING_AFTER, Child, ChildSpec

SLEEPER = "import time; time.sleep(60)"
BUSY = "while True: pass"
POLITE = """
import signal, sys, time, pathlib
def leave(*_):
    pathlib.Path(sys.argv[1]).write_text("left politely")
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
pathlib.Path(sys.argv[1]).write_text("here")
time.sleep(60)
"""
STUBBORN = """
import signal, sys, time, pathlib
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[1]).write_text("here")
time.sleep(60)
"""
PARENT = """
import subprocess, sys, pathlib, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
pathlib.Path(sys.argv[1]).write_text(str(child.pid))
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "FIRST_DELAY", 0.001)
    monkeypatch.setattr(child_module, "LONGEST_DELAY", 0.002)


class Stage:
    """A home and what the child announced."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder)
        self.home.logs.mkdir()
        self.home.run.mkdir()
        self.said: list[str] = []
        self.changed = asyncio.Event()

    def announce(self, _: str, message: str) -> None:
        self.said += [message] if message else []
        self.changed.set()

    def child(self, program: str, *arguments: str, **spec: Any) -> Child:
        async def at_once() -> bool:
            return True

        command = [sys.executable, "-c", program, *arguments]
        defaults: dict[str, Any] = {"name": "part", "command": command, "is_ready": at_once}
        return Child(ChildSpec(**{**defaults, **spec}), self.home, self.announce)

    @asynccontextmanager
    async def alive(self, child: Child, needs: list[Child] | None = None) -> AsyncIterator[Child]:
        child.start(needs or [])
        try:
            yield child
        finally:
            await child.stop()

    async def until(self, child: Child, state: str, *, restarts: int = 0) -> None:
        async with asyncio.timeout(30):
            while child.state.state != state or child.state.restarts < restarts:
                self.changed.clear()
                await self.changed.wait()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


async def until_written(path: Path) -> str:
    async with asyncio.timeout(30):
        while not (text := read(path)):
            await asyncio.sleep(0.01)
    return text


async def test_a_killed_child_is_started_again_and_said_so(stage: Stage) -> None:
    async with stage.alive(stage.child(SLEEPER)) as child:
        await stage.until(child, "ready")
        first = child.state.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await stage.until(child, "ready", restarts=1)
        assert child.state.pid != first and child.starts == 2
        assert child.state.last_exit == "died of SIGKILL"
        assert stage.said[0].startswith("died of SIGKILL; restarting in")


async def test_repeated_death_is_failing_until_ready_again(stage: Stage) -> None:
    stays = stage.home.root / "stays"

    async def ready() -> bool:
        return stays.exists()

    program = "import pathlib, sys, time; time.sleep(60) if pathlib.Path(sys.argv[1]).exists() else sys.exit(3)"
    async with stage.alive(stage.child(program, str(stays), is_ready=ready)) as child:
        await stage.until(child, "failing", restarts=FAILING_AFTER)
        assert child.state.last_exit == "ended with exit code 3"
        starts = child.starts
        async with asyncio.timeout(30):
            while child.starts < starts + 2:
                assert child.state.state == "failing", "a failing part stays failing while it is tried again"
                stage.changed.clear()
                await stage.changed.wait()
        stays.write_text("")
        await stage.until(child, "ready")


async def test_the_delay_grows_and_has_an_end_after_any_number_of_deaths(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    delays: list[float] = []

    async def record(delay: float) -> None:
        delays.append(delay)
        await asyncio.sleep(0)

    monkeypatch.setattr(child_module, "FIRST_DELAY", 0.25)
    monkeypatch.setattr(child_module, "LONGEST_DELAY", 10.0)
    child = stage.child(SLEEPER, command=["/no/such/program"])
    # the child's own view of asyncio alone: others sleep in this loop too
    monkeypatch.setattr(child_module, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": record}))
    async with stage.alive(child):
        await stage.until(child, "failing", restarts=1_100)
    assert delays[:7] == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0]
    assert set(delays[7:]) == {10.0}
    assert "could not be started" in child.state.last_exit and "/no/such/program" in child.state.last_exit


async def test_a_child_that_never_gets_ready_is_failing_and_killed(stage: Stage) -> None:
    async def never() -> bool:
        return False

    async with stage.alive(stage.child(SLEEPER, is_ready=never, ready_within=0.2)) as child:
        await stage.until(child, "failing", restarts=1)
        assert child.state.last_exit == "not ready within 0.2 s"


async def test_a_part_that_says_it_is_on_its_way_is_not_ended(stage: Stage) -> None:
    began = asyncio.get_running_loop().time()

    async def recovering() -> bool:
        if asyncio.get_running_loop().time() - began < 1.5:
            raise StillStarting("recovers")
        return True

    async with stage.alive(stage.child(SLEEPER, is_ready=recovering, ready_within=0.3)) as child:
        await stage.until(child, "recovering")
        await stage.until(child, "ready")
        assert child.state.restarts == 0
        assert stage.said == ["takes longer than usual, still waiting: recovers"]


async def test_a_part_that_still_computes_is_not_ended(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "LEAST_CPU_SECONDS", 0.001)
    began = asyncio.get_running_loop().time()

    async def slowly() -> bool:
        return asyncio.get_running_loop().time() - began > 7.0

    async with stage.alive(stage.child(BUSY, is_ready=slowly, ready_within=2.0)) as child:
        await stage.until(child, "ready")
        assert child.state.restarts == 0


async def test_progress_that_stops_is_an_end(stage: Stage) -> None:
    answers = iter(range(3))

    async def stuck() -> bool:
        if next(answers, None) is not None:
            raise StillStarting("recovers")
        return False

    async with stage.alive(stage.child(SLEEPER, is_ready=stuck, ready_within=0.2)) as child:
        await stage.until(child, "failing", restarts=1)


@pytest.mark.parametrize("where", ["is_ready", "when_ready", "prepare"])
async def test_trouble_around_a_part_is_told_and_tried_again(stage: Stage, where: str) -> None:
    def refuse() -> None:
        raise RuntimeError("the password is wrong")

    async def refuse_later() -> bool:
        raise RuntimeError("the password is wrong")

    child = stage.child(SLEEPER, **{where: refuse_later if where == "is_ready" else refuse})
    async with stage.alive(child):
        await stage.until(child, "failing", restarts=2)
        assert "the password is wrong" in child.state.last_exit
        assert not child.ready.is_set()


async def test_stop_is_polite(stage: Stage) -> None:
    note = stage.home.root / "note"
    child = stage.child(POLITE, str(note))
    async with stage.alive(child):
        await until_written(note)
    assert note.read_text() == "left politely"
    assert child.state.state == "stopped" and child.state.restarts == 0


async def test_stop_ends_a_child_that_will_not_go(stage: Stage) -> None:
    note = stage.home.root / "note"
    child = stage.child(STUBBORN, str(note))
    child.start([])
    await until_written(note)
    pid = child.state.pid
    assert pid is not None
    await child.stop(patience=0.1)
    assert not psutil.pid_exists(pid)


async def test_grandchildren_do_not_outlive_the_child(stage: Stage) -> None:
    note = stage.home.root / "note"
    async with stage.alive(stage.child(PARENT, str(note))) as child:
        grandchild = psutil.Process(int(await until_written(note)))
        assert child.state.pid is not None
        os.kill(child.state.pid, signal.SIGKILL)
        await stage.until(child, "ready", restarts=1)
        await until_gone(grandchild)


async def until_gone(process: psutil.Process) -> None:
    """Killed along with its parent, a moment later; a zombie waits only to be reaped."""
    for _ in range(600):
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return
        except psutil.NoSuchProcess:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the grandchild lives on")


async def test_a_child_waits_for_what_it_needs(stage: Stage) -> None:
    open_gate = asyncio.Event()

    async def when_open() -> bool:
        return open_gate.is_set()

    leader, follower = stage.child(SLEEPER, is_ready=when_open), stage.child(SLEEPER)
    async with stage.alive(leader), stage.alive(follower, [leader]):
        await stage.until(leader, "starting")
        assert follower.starts == 0 and follower.state.state == "waiting"
        open_gate.set()
        await stage.until(follower, "ready")


async def test_stop_before_anything_was_started(stage: Stage) -> None:
    leader, follower = stage.child(SLEEPER), stage.child(SLEEPER)
    follower.start([leader])
    await asyncio.sleep(0)
    await follower.stop()
    assert follower.starts == 0 and follower.state.state == "stopped"


async def test_output_goes_to_the_log_and_the_mark_to_the_environment(stage: Stage) -> None:
    program = "import os, time; print(os.environ['LANISTA_STACK'], os.environ['GREETING'], flush=True); time.sleep(60)"
    async with stage.alive(stage.child(program, environment={"GREETING": "hello"})):
        text = await until_written(stage.home.log_file("part"))
    assert text == f"{stage.home.root} hello\n"
