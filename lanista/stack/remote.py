"""Acting on a stack from outside its supervisor: start it behind, stop it, learn how to reach its parts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

from lanista.settings import StackSettings
from lanista.stack.errors import ChildFailed, StackError
from lanista.stack.home import Home, StackState
from lanista.stack.processes import end_leftovers, leftovers

START_PATIENCE = 120.0
STOP_PATIENCE = 45.0


def reach(home: Home) -> dict[str, str]:
    """The variables that make any Lanista process in this user's hands talk to the local stack."""
    path = home.run / "environment.json"
    if not path.exists():
        raise StackError(f"No stack was started with the data folder {home.root}. Start one with `lanista up`.")
    values: dict[str, str] = json.loads(path.read_text())
    return values


def start_detached(settings: StackSettings, arguments: list[str], progress: Callable[[StackState], None]) -> StackState:
    """Start the supervisor in a session of its own and wait until every part is ready."""
    home = Home(settings.home)
    home.create()
    log_path = home.log_file("supervisor")
    with log_path.open("ab") as log_file:
        process = subprocess.Popen(
            [sys.executable, "-m", "lanista", "up", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log_file,
            stderr=log_file,
            start_new_session=True,
        )
    deadline = time.monotonic() + START_PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ChildFailed("\n".join(["The stack did not start:", *home.last_log_lines("supervisor", 5)]))
        state = home.read_state()
        if state and state.pid == process.pid:
            progress(state)
            if state.ready:
                return state
        time.sleep(0.1)
    raise ChildFailed(f"The stack is not ready after {START_PATIENCE:g} s; `lanista status` says which part is not.")


def stop(home: Home) -> bool:
    """Stop the stack, whether its supervisor lives or left children behind. False when nothing ran."""
    state = home.read_state()
    ran = home.is_supervised()
    if ran and state and _is_supervisor(state):
        with suppress(ProcessLookupError):
            os.kill(state.pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_PATIENCE
        while home.is_supervised():
            if time.monotonic() > deadline:
                os.kill(state.pid, signal.SIGKILL)
                break
            time.sleep(0.1)
    return bool(end_leftovers(home)) or ran


def orphans(home: Home) -> list[psutil.Process]:
    """Children that run on although their supervisor is gone."""
    return [] if home.is_supervised() else leftovers(home)


def _is_supervisor(state: StackState) -> bool:
    try:
        return abs(psutil.Process(state.pid).create_time() - state.created) < 1
    except psutil.NoSuchProcess:
        return False
