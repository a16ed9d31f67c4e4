"""All-reduce by torch.distributed: right means, and processes that die or stand still are noticed."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import pytest
import torch

from workers.crews.all_reduce import GradientAllReduce, GroupMember
from workers.crews.all_reduce.process_group import ProcessGroupAllReduce
from workers.crews.errors import CrewLost

PATIENCE = 60.0


def member(rank: int, pipe: Connection) -> None:
    """A process of a group of two: joins, then averages its numbers whenever it is told to."""
    torch.set_num_threads(1)
    group = ProcessGroupAllReduce(rank, 2, stalled=3.0)
    if rank == 0:
        pipe.send(group.host("127.0.0.1"))
    group.join(*pipe.recv())
    while pipe.recv():
        tensor = torch.full((5,), float(rank))
        try:
            group.average(tensor)
        except CrewLost as error:
            pipe.send(str(error))
        else:
            pipe.send(tensor)


@pytest.fixture
def pair() -> Iterator[tuple[list[Connection], list[Any]]]:
    """Two processes that have joined one group."""
    context = multiprocessing.get_context("spawn")
    pipes, processes = [], []
    for rank in range(2):
        ours, theirs = context.Pipe()
        process = context.Process(target=member, args=(rank, theirs), daemon=True)
        process.start()
        theirs.close()
        pipes.append(ours)
        processes.append(process)
    address = pipes[0].recv()
    for pipe in pipes:
        pipe.send(address)
    yield pipes, processes
    for process in processes:
        process.kill()
        process.join()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_dies_or_stands_still_is_noticed(pair: tuple[list[Connection], list[Any]], sent: int) -> None:
    pipes, processes = pair
    for _ in range(3):
        for pipe in pipes:
            pipe.send("average")
        assert all(torch.equal(pipe.recv(), torch.full((5,), 0.5)) for pipe in pipes)
    os.kill(processes[1].pid, sent)
    pipes[0].send("average")
    assert pipes[0].poll(PATIENCE), "nobody noticed"
    assert "rank 0 lost" in pipes[0].recv()


def test_gradients_on_gpus_never_go_through_shared_memory() -> None:
    here = GroupMember(machine="one", address="127.0.0.1", pid=os.getpid())
    rendezvous = GradientAllReduce(0, 2, cuda=True).host([here, here])
    assert not rendezvous.path and rendezvous.port
