"""Finds the processes of a local stack by their part, and kills them; shared by every measurement that kills."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress

import psutil

from benchmarks.stacks.local_stack import LocalStack
from lanista.stack.processes.leftovers import leftovers

CHILDREN = ("store-worker", "train-worker", "api", "temporal", "postgres")
KINDS = (*CHILDREN, "ray actor", "ray head", "supervisor", "everything")
NEED_A_START = ("supervisor", "everything")
"""Nothing is left that could start the stack again: a person or the machine's init system does."""


class Striker:
    """Kills parts of a stack under a trial and counts; measurements derive from it."""

    def __init__(self, stack: LocalStack, rng: random.Random) -> None:
        self.stack = stack
        self.rng = rng
        self.kills: Counter[str] = Counter()
        self.recoveries: list[float] = []

    def _strike(self, kind: str) -> None:
        send(pids_of(self.stack, kind, self.rng), signal.SIGKILL)

    def _named(self, matches: Callable[[str], bool]) -> list[int]:
        return named(self.stack, matches)

    @staticmethod
    def _signal(pids: Iterable[int]) -> None:
        send(pids, signal.SIGKILL)

    def _generations(self, trial: str) -> int:
        return int(self.stack.rows("SELECT count(*) FROM generations WHERE trial_id = %s", trial)[0][0])

    def _status(self, trial: str) -> str:
        return str(self.stack.rows("SELECT status FROM trials WHERE id = %s", trial)[0][0])

    @staticmethod
    def _wait_until(check: Callable[[], bool], patience: float, what: str) -> None:
        wait_until(check, patience, what)


def pids_of(stack: LocalStack, kind: str, rng: random.Random) -> list[int]:
    """The processes of one kind that run now; of the actors one, drawn at random."""
    state = stack.home.read_state()
    assert state is not None
    if kind in state.children:
        pid = state.children[kind].pid
        return [pid] if pid else []
    if kind == "ray head":
        return named(stack, lambda name: "gcs_server" in name)
    if kind == "ray actor":
        actors = named(stack, lambda name: name.startswith("ray::") and "IDLE" not in name and "Agent" not in name)
        return [rng.choice(actors)] if actors else []
    if kind == "supervisor":
        return [state.pid]
    if kind == "everything":
        return [state.pid, *(process.pid for process in leftovers(stack.home))]
    return []


def named(stack: LocalStack, matches: Callable[[str], bool]) -> list[int]:
    """Processes of the stack whose name or command matches."""
    found = []
    for process in leftovers(stack.home):
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if matches(process.name()) or matches((process.cmdline() or [""])[0]):
                found.append(process.pid)
    return found


def send(pids: Iterable[int], signum: int) -> None:
    """Signal each process that still exists."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signum)


def wait_until(check: Callable[[], bool], patience: float, what: str) -> None:
    """Wait for a condition; raises TimeoutError, which names what was waited for."""
    deadline = time.monotonic() + patience
    while not check():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {patience:g} s for {what}")
        time.sleep(0.25)


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
