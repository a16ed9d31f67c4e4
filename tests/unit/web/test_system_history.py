"""The history of the system: bounded, and complete for every sample."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

from temporalio.api.taskqueue.v1 import PollerInfo
from temporalio.api.workflowservice.v1 import DescribeTaskQueueResponse

from api.web.live.cluster_status import (
    GONE_SECONDS,
    ClusterStatus,
    Observation,
    RayResources,
    TaskQueues,
    WorkerSeen,
    read_task_queues,
    silent_workers,
)
from api.web.live.system_history import SAMPLES, HistorySampler, Sample
from orchestrator.contracts.queues import Queue

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def test_the_oldest_sample_goes() -> None:
    sampler = HistorySampler(cast(ClusterStatus, None))
    for number in range(SAMPLES + 5):
        sampler.add(Sample(at=NOW + timedelta(seconds=10 * number), cpu=0.5, memory=0.25, queues={"train": number}))
    history = sampler.history()
    assert len(history.at) == len(history.cpu) == SAMPLES
    assert history.queues["train"][0] == 5 and history.reserved_cpus == [None] * SAMPLES


def test_a_queue_that_was_not_known_is_null() -> None:
    sampler = HistorySampler(cast(ClusterStatus, None))
    sampler.add(Sample(at=NOW, cpu=0, memory=0))
    sampler.add(Sample(at=NOW, cpu=0, memory=0, queues={"train": 3}, reserved_cpus=2.0))
    history = sampler.history()
    assert history.queues == {"train": [None, 3]} and history.reserved_cpus == [None, 2.0]


class CountingCluster:
    """Two of eight CPUs are reserved; counts how often Ray is asked."""

    asked = 0

    async def task_queues(self) -> Observation[TaskQueues]:
        return Observation(None, "down")

    async def ray(self) -> Observation[RayResources]:
        self.asked += 1
        return Observation(cast(RayResources, SimpleNamespace(cpus=8.0, cpus_available=6.0)))


def test_crews_are_known_for_the_time_in_which_nobody_looked() -> None:
    cluster = CountingCluster()
    sampler = HistorySampler(cast(ClusterStatus, cluster))

    async def sample(seconds: Iterable[int]) -> None:
        for second in seconds:
            sampler.add(await sampler.sample(NOW + timedelta(seconds=second)))

    asyncio.run(sample(range(0, 120, 10)))
    assert cluster.asked == 2, "once a minute"
    assert sampler.history(NOW + timedelta(seconds=120)).reserved_cpus == [2.0] * 12
    asyncio.run(sample(range(120, 150, 10)))
    assert cluster.asked == 5, "with every sample while somebody looks"


def seen(**ago: float) -> TaskQueues:
    workers = [
        WorkerSeen(identity="1@host", queue=Queue(name), last_seen=NOW - timedelta(seconds=seconds))
        for name, seconds in ago.items()
    ]
    return TaskQueues(workers=workers, queues=[])


def test_a_worker_that_polls_no_more_is_named() -> None:
    assert silent_workers(seen(league=1, store=1, train=1, play=1, interactive=1), NOW) == {}
    gone = GONE_SECONDS + 1
    dead = silent_workers(seen(league=1, store=2, train=gone, play=gone, interactive=gone), NOW)
    assert dead == {"train worker": "no poll since 11:58:44 UTC"}
    assert silent_workers(seen(train=1), NOW) == {"store worker": "none is running"}


def test_a_worker_that_is_busy_is_not_dead() -> None:
    """All places of the train queue are taken, so nobody polls it; the worker still polls its other queues."""
    assert silent_workers(seen(league=1, store=1, train=4_000, play=50, interactive=10), NOW) == {}


def answer(**ago: float) -> DescribeTaskQueueResponse:
    """A queue that these processes polled so many seconds ago, the name of each without its host."""
    pollers = []
    for name, seconds in ago.items():
        poller = PollerInfo(identity=f"{name}@host")
        poller.last_access_time.FromDatetime(NOW - timedelta(seconds=seconds))
        pollers.append(poller)
    return DescribeTaskQueueResponse(pollers=pollers)


def test_a_killed_worker_is_gone_and_serves_no_queue() -> None:
    """Temporal lists it for minutes; the new one beside it, and one that is only busy, serve."""
    queues = {
        Queue.TRAIN: answer(killed=GONE_SECONDS + 1, fresh=1, busy=4_000),
        Queue.PLAY: answer(killed=GONE_SECONDS + 9, fresh=2, busy=5),
        Queue.STORE: answer(killed=GONE_SECONDS + 1),
    }
    found = read_task_queues(queues, NOW)
    assert {worker.identity for worker in found.workers if worker.gone} == {"killed@host"}
    assert {queue.name: queue.pollers for queue in found.queues} == {Queue.TRAIN: 2, Queue.PLAY: 2, Queue.STORE: 0}


def test_a_container_that_was_started_again_is_one_worker() -> None:
    """Its process has the same id, host and release, and another birth."""
    answer = DescribeTaskQueueResponse()
    for born, ago in ((1, GONE_SECONDS + 60), (2, 1)):
        poller = answer.pollers.add(identity=f"1@box lanista-1.0 boot-4026/{born}")
        poller.last_access_time.FromDatetime(NOW - timedelta(seconds=ago))
    (worker,) = read_task_queues({Queue.STORE: answer}, NOW).workers
    assert (worker.identity, worker.gone) == ("1@box lanista-1.0", False)
    assert worker.last_seen == NOW - timedelta(seconds=1)
