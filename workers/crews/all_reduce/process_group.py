"""All-reduce by torch.distributed: gloo between processes of several machines, NCCL between GPUs.

NCCL has not been run: it is chosen by the device alone, and everything else is the same as with gloo.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Literal

import torch.distributed as dist
from torch import Tensor
from torch.distributed import TCPStore  # type: ignore[attr-defined]

from workers.crews.all_reduce.interfaces import use_interface_towards
from workers.crews.errors import CrewLost

Backend = Literal["gloo", "nccl"]

LONGEST_WAIT = timedelta(minutes=10)
"""How long a process waits for others that are alive: one of them may sample for minutes."""
STALLED_SECONDS = 10.0
"""A process that has sent no heartbeat for this long is stopped, or its machine cannot be reached."""
HEARTBEAT_SECONDS = 1.0
_SHORTEST_PAUSE, _LONGEST_PAUSE = 50e-6, 2e-3


class ProcessGroupAllReduce:
    """One process's membership in a process group."""

    def __init__(self, rank: int, size: int, backend: Backend = "gloo", stalled: float = STALLED_SECONDS) -> None:
        self._rank, self._size, self._backend, self._stalled = rank, size, backend, stalled
        self._store: TCPStore | None = None
        self._heartbeats: _Heartbeats | None = None

    def host(self, address: str) -> tuple[str, int]:
        """Open the rendezvous store; rank 0 does this before any process joins."""
        self._store = TCPStore(address, 0, self._size, is_master=True, wait_for_workers=False)
        return address, int(self._store.port)

    def join(self, address: str, port: int) -> None:
        """Join the process group; returns when all ranks have joined."""
        use_interface_towards(address)
        if self._store is None:
            self._store = TCPStore(address, port, self._size, is_master=False)
        dist.init_process_group(
            self._backend, store=self._store, rank=self._rank, world_size=self._size, timeout=LONGEST_WAIT
        )
        # a second client of the store: a call on the first may block for a long time
        beats = TCPStore(address, port, self._size, is_master=False, wait_for_workers=False)
        self._heartbeats = _Heartbeats(beats, self._rank, self._size, self._stalled)

    def average(self, tensor: Tensor, meanwhile: Callable[[], object] | None = None) -> None:
        """Average the tensor over all ranks, in place. Raises CrewLost if a rank has died or stalled.

        `meanwhile` is called once, while the tensors travel.
        """
        assert self._heartbeats is not None, "a process joins its group before it averages"
        try:
            work = dist.all_reduce(tensor, async_op=True)
            assert work is not None
            if meanwhile is not None:
                meanwhile()
            self._wait(work, self._heartbeats)
            work.wait()  # raises what went wrong
        except (RuntimeError, ConnectionError) as error:
            raise CrewLost(f"rank {self._rank} lost the other processes in an all-reduce: {error}") from error
        tensor /= self._size

    def _wait(self, work: dist.Work, heartbeats: _Heartbeats) -> None:
        pause, began = _SHORTEST_PAUSE, time.monotonic()
        while not work.is_completed():
            time.sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 1.5)
            if time.monotonic() - began > HEARTBEAT_SECONDS and (lost := heartbeats.stalled_rank()) is not None:
                raise CrewLost(
                    f"rank {self._rank} lost rank {lost} in an all-reduce: no sign of life for {self._stalled:g} s"
                )


class _Heartbeats:
    """Each process counts up a number in the rendezvous store; the others look at it while they wait."""

    def __init__(self, store: TCPStore, rank: int, size: int, stalled: float) -> None:
        self._store, self._stalled = store, stalled
        self._others = [other for other in range(size) if other != rank]
        self._seen = {other: (0, time.monotonic()) for other in self._others}
        self._looked_at = time.monotonic()
        self._lock = threading.Lock()
        threading.Thread(target=self._beat, args=[f"heartbeat/{rank}"], name="heartbeat", daemon=True).start()

    def stalled_rank(self) -> int | None:
        """A rank whose number has not grown for too long while this process looked at it; asks once a second."""
        now = time.monotonic()
        if now - self._looked_at < HEARTBEAT_SECONDS:
            return None
        if now - self._looked_at > 3 * HEARTBEAT_SECONDS:  # this process was training and read none
            self._seen = {other: (number, now) for other, (number, _) in self._seen.items()}
        self._looked_at = now
        with self._lock:
            for other in self._others:
                number = self._store.add(f"heartbeat/{other}", 0)
                if number != self._seen[other][0]:
                    self._seen[other] = (number, now)
        return next((other for other, (_, at) in self._seen.items() if now - at > self._stalled), None)

    def _beat(self, key: str) -> None:
        while True:
            try:
                with self._lock:
                    self._store.add(key, 1)
            except RuntimeError:
                return  # rank 0, which hosts the store, has ended
            time.sleep(HEARTBEAT_SECONDS)
