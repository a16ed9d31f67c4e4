"""All-reduce through shared memory: right sums, the same bits everywhere, and a dead process is noticed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

import pytest
import torch

from workers.crews.all_reduce import GradientAllReduce, GroupMember, Rendezvous
from workers.crews.all_reduce.shared_memory import SLOT_BYTES, SharedMemoryAllReduce
from workers.crews.errors import CrewLost

Tensors = list[torch.Tensor]


def tensors_of(rank: int, count: int, length: int, dtype: torch.dtype) -> Tensors:
    generator = torch.Generator().manual_seed(rank)
    return [torch.randn(length, generator=generator, dtype=dtype) for _ in range(count)]


def member(rank: int, size: int, pipe: Connection) -> None:
    """A process of the group: joins, then averages what it is told to and sends the results."""
    torch.set_num_threads(1)
    group = SharedMemoryAllReduce(rank, size)
    if rank == 0:
        pipe.send(group.host())
    pipe.send(os.getpid())
    group.join(*pipe.recv())
    pipe.send("joined")
    while order := pipe.recv():
        tensors = tensors_of(rank, *order)
        try:
            for tensor in tensors:
                called: list[int] = []
                group.average(tensor, lambda called=called: called.append(1))
                assert called == [1], "what is to be done meanwhile is done once"
        except CrewLost as error:
            pipe.send(str(error))
        else:
            pipe.send(tensors)


Start = Callable[[int], tuple[list[Connection], list[Any]]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts groups of so many processes; ends them all."""
    context = multiprocessing.get_context("spawn")
    processes: list[Any] = []

    def start_group(size: int) -> tuple[list[Connection], list[Any]]:
        pipes = []
        for rank in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(target=member, args=(rank, size, theirs), daemon=True)
            process.start()
            theirs.close()
            processes.append(process)
            pipes.append(ours)
        path = pipes[0].recv()
        pids = [pipe.recv() for pipe in pipes]
        for pipe in pipes:
            pipe.send((path, pids))
        assert [pipe.recv() for pipe in pipes] == ["joined"] * size
        return pipes, processes

    yield start_group
    for process in processes:
        process.kill()
        process.join()


@pytest.mark.parametrize("size", [2, 3])
def test_every_process_gets_the_same_mean(start: Start, size: int) -> None:
    pipes, _ = start(size)
    long = SLOT_BYTES // 4 + 7  # travels in two steps
    for order in ((50, 1_000, torch.float32), (3, long, torch.float32), (5, 33, torch.float64)):
        for pipe in pipes:
            pipe.send(order)
        results = [pipe.recv() for pipe in pipes]
        for got in results[1:]:
            assert all(torch.equal(ours, first) for ours, first in zip(got, results[0], strict=True))
        given = [tensors_of(rank, *order) for rank in range(size)]
        for number, result in enumerate(results[0]):
            torch.testing.assert_close(result, torch.stack([one[number] for one in given]).mean(0))


def test_a_dead_process_is_noticed_and_named(start: Start) -> None:
    pipes, processes = start(3)
    os.kill(processes[2].pid, signal.SIGKILL)
    for pipe in pipes[:2]:
        pipe.send((1, 10, torch.float32))
    for pipe in pipes[:2]:
        assert pipe.poll(30.0), "nobody noticed"
        assert f"lost rank 2 (process {processes[2].pid})" in pipe.recv()


def test_a_stopped_process_is_noticed_and_named(start: Start) -> None:
    pipes, processes = start(2)
    os.kill(processes[1].pid, signal.SIGSTOP)
    pipes[0].send((1, 10, torch.float32))
    assert pipes[0].poll(60.0), "nobody noticed"
    assert f"process {processes[1].pid} has been stopped" in pipes[0].recv()


def test_a_slow_process_is_waited_for(start: Start) -> None:
    pipes, _ = start(2)
    pipes[0].send((2, 10, torch.float32))
    time.sleep(1.5)  # longer than until the others are looked at
    assert not pipes[0].poll()
    pipes[1].send((2, 10, torch.float32))
    first, second = pipes[0].recv(), pipes[1].recv()
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


def test_memory_that_cannot_be_opened_is_reported_and_gloo_remains() -> None:
    """A sandbox may forbid one process to open the memory of another."""
    group = GradientAllReduce(1, 2)
    missing = f"/proc/{os.getpid()}/fd/999999"
    problem = group.join(Rendezvous(path=missing, pids=(1, os.getpid())))
    assert problem is not None and missing in problem
    here = GroupMember(machine="one", address="127.0.0.1", pid=os.getpid())
    rendezvous = GradientAllReduce(0, 2).host([here, here], shared_memory=False)
    assert not rendezvous.path and rendezvous.port


def test_processes_of_several_machines_meet_at_an_address() -> None:
    members = [GroupMember(machine=machine, address="127.0.0.1", pid=1) for machine in ("one", "two")]
    rendezvous = GradientAllReduce(0, 2).host(members)
    assert not rendezvous.path and (rendezvous.address, rendezvous.port > 0) == ("127.0.0.1", True)
