"""Gradient all-reduce between the training processes of a crew.

Processes of one machine average through shared memory, others over gloo, and those with GPUs by NCCL. With gloo on the
loopback device a crew of two processes was slower than one process: an all-reduce of a small network costs more than
its gradient.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog
from torch import Tensor

from workers.crews.all_reduce.process_group import ProcessGroupAllReduce
from workers.crews.all_reduce.shared_memory import SharedMemoryAllReduce

log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class GroupMember:
    """Where a process of the group runs."""

    machine: str
    """The same for processes that can share memory."""
    address: str
    pid: int


@dataclass(frozen=True, kw_only=True)
class Rendezvous:
    """Where the processes of a group meet: a file in memory, or a store that listens at an address."""

    path: str = ""
    pids: tuple[int, ...] = ()
    address: str = ""
    port: int = 0


def this_process() -> GroupMember:
    """This process, of Ray's, as a member of a group."""
    import ray  # one process that learns alone needs none

    # by the node's own entry: other ways guess the address from the host's name or its routes
    own_node = ray.get_runtime_context().get_node_id()
    address = next(node["NodeManagerAddress"] for node in ray.nodes() if node["NodeID"] == own_node)
    return GroupMember(machine=_machine(), address=address, pid=os.getpid())


class GradientAllReduce:
    """One process's membership in the crew's group; how it averages is decided when the group meets."""

    def __init__(self, rank: int, size: int, *, cuda: bool = False) -> None:
        """`cuda`: the gradients are on GPUs."""
        self._cuda = cuda
        self._process_group = ProcessGroupAllReduce(rank, size, "nccl" if cuda else "gloo")
        self._shared_memory = SharedMemoryAllReduce(rank, size)
        self._joined: ProcessGroupAllReduce | SharedMemoryAllReduce | None = None

    def host(self, members: Sequence[GroupMember], *, shared_memory: bool = True) -> Rendezvous:
        """Open the rendezvous of these members, by rank; rank 0 does this before any process joins."""
        if shared_memory and not self._cuda and len({member.machine for member in members}) == 1:
            try:
                return Rendezvous(path=self._shared_memory.host(), pids=tuple(member.pid for member in members))
            except OSError as error:  # a sandbox may forbid it
                log.warning("memory cannot be shared; gradients go over gloo", problem=str(error))
        address, port = self._process_group.host(members[0].address)
        return Rendezvous(address=address, port=port)

    def join(self, rendezvous: Rendezvous) -> str | None:
        """Join the group; a process group returns when all ranks have joined. Returns why memory cannot be shared."""
        if rendezvous.path:
            try:
                self._shared_memory.join(rendezvous.path, rendezvous.pids)
            except OSError as error:
                return str(error)
            self._joined = self._shared_memory
        else:
            self._process_group.join(rendezvous.address, rendezvous.port)
            self._joined = self._process_group
        return None

    def average(self, tensor: Tensor, meanwhile: Callable[[], object] | None = None) -> None:
        """Average the tensor over all ranks, in place; `meanwhile` is called once before this rank waits for others."""
        assert self._joined is not None, "a process joins its group before it averages"
        self._joined.average(tensor, meanwhile)


def _machine() -> str:
    """The kernel's boot and the process namespace: processes that agree in both see each other in /proc."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return f"{boot.read_text().strip()} {os.readlink('/proc/self/ns/pid')}" if boot.exists() else str(os.getpid())
