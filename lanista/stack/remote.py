"""Acting on a stack from outside its supervisor: start it behind, stop it, learn how to reach its parts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

from lanista.settings import StackSettings
from lanista.stack.errors import ChildFailed, NotStarted, StackError
from lanista.stack.home import Home, StackState
from lanista.stack.processes import end_leftovers, leftovers

START_PATIENCE = 120.0
"""Without the time that a part spends on recovering: ended meanwhile, it would begin anew at the next start."""
STOP_PATIENCE = 45.0


def reach(home: Home) -> dict[str, str]:
    """The variables that make any Lanista process in this user's hands talk to the local stack."""
    path = home.run / "environment.json"
    if not path.exists():
        raise NotStarted(f"No stack was started with the data folder {home.root}. Start one with `lanista up`.")
    values: dict[str, str] = json.loads(path.read_text())
    return values


Progress = Callable[[StackState], None]


def start_detached(settings: StackSettings, arguments: list[str], progress: Progress) -> StackState:
    """Start the supervisor in a session of its own and wait until every part is ready.

    What was started is stopped again when a part keeps failing or the person loses patience.
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
        # one that ended because another `up` came first leaves the waiting to that one
        if process.poll() is not None and not home.is_supervised():
            raise ChildFailed(f"The stack did not start. {_complaint(home, begin)}")

    try:
        return wait_until_ready(home, progress, still_starts)
    except (ChildFailed, KeyboardInterrupt):
        if process.poll() is None:
            stop(home)
        raise


def wait_until_ready(home: Home, progress: Progress, still_starts: Callable[[], None] = lambda: None) -> StackState:
    """Wait for the stack that runs or starts with this data folder; raises ChildFailed when a part keeps failing."""
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
    raise ChildFailed(f"The stack is not ready after {START_PATIENCE:g} s; `lanista status` says which part is not.")


def recovering(state: StackState) -> list[str]:
    """The parts that are on their way and must be given all the time they take."""
    return [name for name, child in state.children.items() if child.state == "recovering"]


def explain_failure(home: Home, state: StackState, name: str) -> str:
    """Which part fails, how it ended last, and what it logged."""
    title = f"{name} keeps failing: {state.children[name].last_exit}. Its last log lines ({home.log_file(name)}):"
    return "\n".join([title, *(f"  {line}" for line in home.last_log_lines(name))])


def _complaint(home: Home, begin: int) -> str:
    """What the supervisor said of its end: the error meant for a person where there is one, else its last lines."""
    if (state := home.read_state()) and state.note == "stopped":
        return "It was stopped meanwhile."
    with home.log_file("supervisor").open("rb") as file:
        file.seek(begin)
        lines = file.read().decode(errors="replace").splitlines()
    first = next((index for index, line in enumerate(lines) if line.startswith("Error: ")), max(0, len(lines) - 5))
    return "\n".join(lines[first:]).removeprefix("Error: ")


def stop(home: Home) -> bool:
    """Stop the stack, whether its supervisor lives or left children behind. False when nothing ran."""
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
            raise StackError(f"The supervisor of {home.root} does not stop, and is not ours to kill.")
        time.sleep(0.1)
    ended = end_leftovers(home)
    while any(_lives(supervisor) for supervisor in asked) and time.monotonic() < deadline:
        time.sleep(0.05)  # it let go of the lock, and is about to end
    return bool(ended) or ran


def running_parts(home: Home) -> list[str]:
    """The parts whose processes live, whether their supervisor does or not."""
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
    """Children that run on although their supervisor is gone."""
    return [] if home.is_supervised() else leftovers(home)
