"""Tables stepped by other processes, for environments whose steps are slow Python code."""

from __future__ import annotations

import mmap
import os
import socket
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from orchestrator.user_code.code_importing import archive_store
from workers.games.adapters.drivers import TableSetup
from workers.games.adapters.table_arrays import TableArrays
from workers.games.errors import GameError

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 -- a nameless file in it is memory, and nobody else can open it


class TableProcessDied(GameError):
    """A process that stepped tables ended, killed or crashed in code of an environment."""


class RemoteTraceback(Exception):
    """The traceback of an exception in another process, as the cause of the same exception here."""


class ProcessTables:
    """The tables of a game, divided over processes that die with this one. It has the methods of `DrivenTables`."""

    def __init__(self, setup: TableSetup, processes: int) -> None:
        layout = setup.layout
        count = min(processes, layout.tables)
        with tempfile.TemporaryFile(dir=_SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None) as file:
            file.truncate(layout.size)
            self.arrays = TableArrays.over(layout, mmap.mmap(file.fileno(), layout.size))
            edges = [layout.tables * number // count for number in range(count + 1)]
            self._first = edges[:-1]
            self._children = [_Child(file.fileno()) for _ in range(count)]
        self.close = weakref.finalize(self, _stop, self._children)
        """Ends the processes; they end with this object too."""
        if (store := archive_store()) is not None:
            for child in self._children:
                child.order("import_archives_from", store.root_url)
            self._wait(self._children)
        for child, first, end in zip(self._children, edges, edges[1:], strict=False):
            child.order("open", setup, first, end)
        self._wait(self._children)

    def start(self, tables: Sequence[int], seeds: Sequence[int]) -> None:
        """See `DrivenTables`."""
        shares: dict[int, tuple[list[int], list[int]]] = {}
        for table, seed in zip(tables, seeds, strict=True):
            share = shares.setdefault(self._owner(table), ([], []))
            share[0].append(table)
            share[1].append(seed)
        for number, share in shares.items():
            self._children[number].order("start", *share)
        self._wait([self._children[number] for number in shares])

    def step(self) -> None:
        """See `DrivenTables`."""
        for child in self._children:
            child.order("step")
        self._wait(self._children)

    def states(self) -> None:
        """See `DrivenTables`."""
        for child in self._children:
            child.order("states")
        self._wait(self._children)

    def text(self, table: int) -> str | None:
        """See `DrivenTables`."""
        child = self._children[self._owner(table)]
        child.order("text", table)
        found: str | None = child.answer()
        return found

    def _owner(self, table: int) -> int:
        return sum(first <= table for first in self._first) - 1

    def _wait(self, children: Sequence[_Child]) -> None:
        """Take every answer, so that none is left over, then raise the first error."""
        errors = []
        for child in children:
            try:
                child.answer()
            except Exception as error:
                errors.append(error)
        if errors:
            raise errors[0]


class _Child:
    """One process, its socket and the pipe that tells it of this process's end."""

    def __init__(self, memory: int) -> None:
        here, there = socket.socketpair()
        reading, self._lifeline = os.pipe()
        with there:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "workers.games.adapters.table_process",
                    *map(str, (there.fileno(), memory, reading)),
                ],
                pass_fds=(there.fileno(), memory, reading),
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"},
            )
        os.close(reading)
        self._connection = Connection(here.detach())

    def order(self, *order: Any) -> None:
        try:
            self._connection.send(order)
        except OSError as error:
            raise self._died() from error

    def answer(self) -> Any:
        try:
            fine, answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise self._died() from error
        if fine:
            return answer
        raised, message, trace = answer
        raise raised if raised is not None else RuntimeError(message) from RemoteTraceback(f"\n{trace}")

    def stop(self) -> None:
        self._connection.close()
        os.close(self._lifeline)
        self.process.kill()
        self.process.wait()

    def _died(self) -> TableProcessDied:
        code = self.process.wait()
        return TableProcessDied(f"a process that steps environments ended with code {code}; see the log of this worker")


def _stop(children: Sequence[_Child]) -> None:
    for child in children:
        child.stop()
