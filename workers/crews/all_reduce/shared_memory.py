"""All-reduce between processes of one machine, through shared memory.

Each process writes its share of the mean into a slot of its own, publishes a step number in a cache line of its own,
waits until all others have published the same step, and adds the slots in rank order: every process computes the same
bits. Two sets of slots alternate, so that a fast process never overwrites what a slow one still reads: it cannot pass
the next step before the slow one has published it, and by then the slow one has read the last.

The memory is an anonymous file (memfd) of the first process. The others open it through /proc, so that the kernel
frees it when its processes have ended.
"""

from __future__ import annotations

import mmap
import os
import platform
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from workers.crews.errors import CrewLost

CACHE_LINE = 64
SLOT_BYTES = 1 << 20
"""Bytes of one process in one step; a longer tensor is averaged in several steps."""
SPINS = 2_000
"""Checks of the others' steps before this process yields its core."""
YIELDS = 2_000
"""Checks with a yield of the core before it sleeps between checks."""
SLEEP_SECONDS = 100e-6
PATIENCE_SECONDS = 600.0
"""How long a process waits for others that are alive; the watchdog of a generation is usually sooner."""
ALIVE_SECONDS = 0.5
"""How often a waiting process checks that the others are alive."""
STOPPED_SECONDS = 3.0
"""A process that has been stopped (SIGSTOP, a debugger) for this long is lost."""

_fence_lock = threading.Lock()
_needs_fence = platform.machine() not in ("x86_64", "AMD64")


class SharedMemoryAllReduce:
    """One process's membership in a group on one machine."""

    def __init__(self, rank: int, size: int) -> None:
        self._rank, self._size = rank, size
        self._share = 1.0 / size
        self._step = 0
        self._fd = -1
        self._pids: Sequence[int] = ()
        self._stopped_since: dict[int, float] = {}
        self._views: dict[tuple[int, torch.dtype, int], list[Tensor]] = {}

    def host(self) -> str:
        """Make the memory; rank 0 does this before any process joins. Returns the path by which the others open it."""
        self._fd = os.memfd_create("lanista-all-reduce")
        os.ftruncate(self._fd, self._bytes)
        return f"/proc/{os.getpid()}/fd/{self._fd}"

    def join(self, path: str, pids: Sequence[int]) -> None:
        """Open the memory. `pids`: the processes of the group, by rank."""
        if self._fd < 0:  # rank 0 has it open, and keeps it open for the others
            self._fd = os.open(path, os.O_RDWR)
        self._memory = mmap.mmap(self._fd, self._bytes)
        self._pids = pids
        self._steps = memoryview(self._memory)[: self._size * CACHE_LINE].cast("q")
        self._others = [rank * (CACHE_LINE // 8) for rank in range(self._size) if rank != self._rank]

    @property
    def _bytes(self) -> int:
        return self._size * (CACHE_LINE + 2 * SLOT_BYTES)

    def average(self, tensor: Tensor, meanwhile: Callable[[], object] | None = None) -> None:
        """Average the tensor over all ranks, in place; every rank gets the same bits.

        `meanwhile` is called once, after this rank has published its tensor and before it waits for the others.
        """
        flat = tensor.view(-1)
        if flat.nbytes <= SLOT_BYTES:
            self._average(flat, meanwhile)
            return
        for part in torch.split(flat, SLOT_BYTES // flat.element_size()):
            self._average(part, meanwhile)
            meanwhile = None

    def _average(self, part: Tensor, meanwhile: Callable[[], object] | None) -> None:
        self._step += 1
        slots = self._slots(part)
        torch.mul(part, self._share, out=slots[self._rank])
        self._publish()
        if meanwhile is not None:
            meanwhile()
        self._wait()
        torch.add(slots[0], slots[1], out=part)
        for slot in slots[2:]:
            part += slot

    def _slots(self, part: Tensor) -> list[Tensor]:
        """The slots of this step, by rank, as tensors like the part; a learner averages the same few lengths always."""
        key = (self._step & 1, part.dtype, part.numel())
        found = self._views.get(key)
        if found is None:
            start = self._size * CACHE_LINE + key[0] * self._size * SLOT_BYTES
            found = self._views[key] = [
                torch.frombuffer(self._memory, dtype=part.dtype, count=part.numel(), offset=start + rank * SLOT_BYTES)
                for rank in range(self._size)
            ]
        return found

    def _publish(self) -> None:
        _fence()  # the slot is written before the step is seen
        self._steps[self._rank * (CACHE_LINE // 8)] = self._step

    def _wait(self) -> None:
        """Until all others have published this step; raises CrewLost when one of them has died."""
        steps, step = self._steps, self._step
        pauses = self._pauses()
        for place in self._others:
            while steps[place] < step:
                next(pauses)
        _fence()  # the slots are read after the steps

    def _pauses(self) -> Iterator[None]:
        """Pauses that grow: spins, then yields of the core, then sleeps with checks that the others are alive."""
        for _ in range(SPINS):
            yield
        for _ in range(YIELDS):
            os.sched_yield()
            yield
        began = looked = time.monotonic()
        while time.monotonic() - began < PATIENCE_SECONDS:
            time.sleep(SLEEP_SECONDS)
            if time.monotonic() - looked > ALIVE_SECONDS:
                looked = time.monotonic()
                self._check_alive(looked)
            yield
        raise CrewLost(f"rank {self._rank} waited {PATIENCE_SECONDS:g} s for the other processes in an all-reduce")

    def _check_alive(self, now: float) -> None:
        for rank, pid in enumerate(self._pids):
            state = _state(pid)
            if state in _DEAD:
                raise CrewLost(f"rank {self._rank} lost rank {rank} (process {pid}) in an all-reduce")
            if state not in _STOPPED:
                self._stopped_since.pop(rank, None)
            elif now - self._stopped_since.setdefault(rank, now) >= STOPPED_SECONDS:
                raise CrewLost(
                    f"rank {self._rank} waited for rank {rank} in an all-reduce: process {pid} has been stopped"
                )


_DEAD, _STOPPED = ("", "Z", "X"), ("T", "t")


def _state(pid: int) -> str:
    """The kernel's letter for the state of the process; empty if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _fence() -> None:
    """Keeps memory operations in order across processes. x86 keeps stores in order by itself; elsewhere a lock does."""
    if _needs_fence:
        for _ in range(2):
            with _fence_lock:
                pass
