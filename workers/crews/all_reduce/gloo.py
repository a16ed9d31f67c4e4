"""All-reduce between processes of several machines, over gloo."""

from __future__ import annotations

from datetime import timedelta

import torch.distributed as dist
from torch import Tensor
from torch.distributed import TCPStore  # type: ignore[attr-defined]

from workers.crews.errors import CrewLost

_TIMEOUT = timedelta(minutes=10)


class GlooAllReduce:
    """One process's membership in a gloo process group."""

    def __init__(self, rank: int, size: int) -> None:
        self._rank, self._size = rank, size
        self._store: TCPStore | None = None

    def host(self, address: str) -> tuple[str, int]:
        """Open the rendezvous store; rank 0 does this before any process joins."""
        self._store = TCPStore(address, 0, self._size, is_master=True, wait_for_workers=False)
        return address, int(self._store.port)

    def join(self, address: str, port: int) -> None:
        """Join the process group; returns when all ranks have joined."""
        if self._store is None:
            self._store = TCPStore(address, port, self._size, is_master=False)
        dist.init_process_group("gloo", store=self._store, rank=self._rank, world_size=self._size, timeout=_TIMEOUT)

    def average(self, tensor: Tensor) -> None:
        """Average the tensor over all ranks, in place."""
        try:
            dist.all_reduce(tensor)
        except RuntimeError as error:
            raise CrewLost(f"rank {self._rank} lost the other processes in an all-reduce: {error}") from error
        tensor /= self._size
