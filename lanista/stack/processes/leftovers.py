"""Finds and ends processes that a supervisor left behind, and no others."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable

import psutil

from lanista.stack.home import Home

MARK = "LANISTA_STACK"
"""Environment variable of every child, with the data folder's path; descendants inherit it."""


def leftovers(home: Home) -> list[psutil.Process]:
    """Processes of this data folder's stack, without the caller and its ancestors."""
    mine = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    return [process for process in psutil.process_iter() if process.pid not in mine and _is_marked(process, home)]


def _is_marked(process: psutil.Process, home: Home) -> bool:
    try:
        if process.environ().get(MARK) == str(home.root):
            return True
        # Postgres overwrites its environment with a process title; its data folder is in the arguments
        command = process.cmdline()
        folders = (str(home.postgres), str(home.postgres_building))
        return bool(command) and "postgres" in command[0] and any(folder in command for folder in folders)
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess, OSError):
        return False


def end_leftovers(home: Home, *, patience: float = 10.0, at_once: bool = False) -> int:
    """End processes of an earlier supervisor, first by SIGTERM or SIGINT so that Postgres can close its files.

    `at_once`: a league waits for the next start. Everything but Postgres is killed: each part survives that, and
    workers would wait for generations under way that the next start makes again.
    """
    found = leftovers(home)
    databases = [process for process in found if _name(process) == "postgres"]
    others = [process for process in found if process not in databases]
    _signal(others, signal.SIGKILL if at_once else signal.SIGTERM)
    # SIGTERM makes Postgres wait for its clients; SIGINT is its fast shutdown
    _signal(databases, signal.SIGINT)
    _wait_gone(found, patience)
    deadline = time.monotonic() + patience
    while (remaining := leftovers(home)) and time.monotonic() < deadline:
        _signal(remaining, signal.SIGKILL)
        _wait_gone(remaining, 1.0)
    return len(found)


def kill_group(leader: int, signum: int) -> None:
    """Signal a child's process group, if it still exists."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signum)


def _name(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.Error:
        return ""


def _signal(processes: Iterable[psutil.Process], signum: int) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.send_signal(signum)


def _wait_gone(processes: list[psutil.Process], patience: float) -> None:
    psutil.wait_procs(processes, timeout=patience)
