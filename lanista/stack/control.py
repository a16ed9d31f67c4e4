"""Controls a stack from outside its supervisor: start in the background, stop, find the parts' addresses."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

from lanista.settings import StackSettings
from lanista.stack.errors import ChildFailed, StackError
from lanista.stack.home import Home, StackState
from lanista.stack.processes.leftovers import end_leftovers, leftovers
from lanista.stack.reach import reach as reach

START_PATIENCE = 120.0
"""Time spent on recovery does not count: a part ended during recovery would start it again."""
STOP_PATIENCE = 45.0


Progress = Callable[[StackState], None]


def start_detached(settings: StackSettings, arguments: list[str], progress: Progress) -> StackState:
    """Start the supervisor in a session of its own and wait until every part is ready.

    The stack is stopped again if a part keeps failing, or on Ctrl-C.
    """
    home = Home(settings.home)
    home.create()
    with home.log_file("supervisor").open("ab") as log_file:
        begin = log_file.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "lanista", "up", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log_file,
            stderr=log_file,
            start_new_session=True,
        )

    def still_starts() -> None:
        # if another `up` came first, wait for that one
        if process.poll() is not None and not home.is_supervised():
            raise ChildFailed(f"The stack did not start. {_complaint(home, begin)}")

    try:
        return wait_until_ready(home, progress, still_starts)
    except (ChildFailed, KeyboardInterrupt):
        if process.poll() is None:
            stop(home)
        raise


def wait_until_ready(home: Home, progress: Progress, still_starts: Callable[[], None] = lambda: None) -> StackState:
    """Wait for the stack of this data folder to be ready; raises ChildFailed if a part keeps failing."""
    deadline = time.monotonic() + START_PATIENCE
    while time.monotonic() < deadline:
        still_starts()
        if state := home.live_state():
            progress(state)
            if state.ready:
                return state
            if recovering(state):
                deadline = time.monotonic() + START_PATIENCE
            if failing := [name for name, child in state.children.items() if child.state == "failing"]:
                raise ChildFailed("\n".join(explain_failure(home, state, name) for name in failing))
        time.sleep(0.1)
    raise ChildFailed(f"The stack is not ready after {START_PATIENCE:g} s; `lanista status` shows which part is not.")


def recovering(state: StackState) -> list[str]:
    """The parts that are recovering and may take their time."""
    return [name for name, child in state.children.items() if child.state == "recovering"]


def explain_failure(home: Home, state: StackState, name: str) -> str:
    """How a failing part ended last, with its last log lines."""
    title = f"{name} keeps failing: {state.children[name].last_exit}. Its last log lines ({home.log_file(name)}):"
    return "\n".join([title, *(f"  {line}" for line in home.last_log_lines(name))])


def _complaint(home: Home, begin: int) -> str:
    """Why the supervisor ended: its error message if there is one, else its last log lines."""
    if (state := home.read_state()) and state.note == "stopped":
        return "It was stopped in the meantime."
    with home.log_file("supervisor").open("rb") as file:
        file.seek(begin)
        lines = file.read().decode(errors="replace").splitlines()
    first = next((index for index, line in enumerate(lines) if line.startswith("Error: ")), max(0, len(lines) - 5))
    return "\n".join(lines[first:]).removeprefix("Error: ")


def stop(home: Home) -> bool:
    """Stop the stack, or the children of a dead supervisor. False if nothing was running."""
    ran = home.is_supervised()
    deadline = time.monotonic() + STOP_PATIENCE
    asked: set[psutil.Process] = set()
    while home.is_supervised():
        if supervisor := home.supervisor():
            with suppress(psutil.NoSuchProcess):
                if time.monotonic() > deadline:
                    supervisor.kill()
                elif supervisor not in asked:
                    supervisor.terminate()
                    asked.add(supervisor)
        elif time.monotonic() > deadline:
            raise StackError(f"The supervisor of {home.root} does not stop and belongs to another user.")
        time.sleep(0.1)
    ended = end_leftovers(home)
    while any(_lives(supervisor) for supervisor in asked) and time.monotonic() < deadline:
        time.sleep(0.05)  # it has released the lock and is about to exit
    return bool(ended) or ran


def running_parts(home: Home) -> list[str]:
    """The parts whose processes are running, with or without a supervisor."""
    state = home.read_state()
    if state is None:
        return []
    return [name for name, child in state.children.items() if child.pid is not None and psutil.pid_exists(child.pid)]


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def orphans(home: Home) -> list[psutil.Process]:
    """Children that are still running without their supervisor."""
    return [] if home.is_supervised() else leftovers(home)
