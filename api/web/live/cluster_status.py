"""The status of the cluster: workers and task queues as Temporal reports them, Ray's free resources, and gateways.

The page asks often and must never wait for a part that does not answer: an answer is cached for a few seconds, and a
request that has waited for a second gets the last answer, or none and the reason.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeTaskQueueResponse
from temporalio.client import Client
from temporalio.service import RPCError

from api.web.cache import Cache
from api.web.problems import ProblemError
from api.web.temporal.ask_worker import ask
from api.web.temporal.unavailable import outage
from orchestrator.clock_skew import Skew, skew_between
from orchestrator.contracts.interactive import (
    Answer,
    GatewaysRequest,
    GatewaysSeen,
    Message,
    Question,
    RayRequest,
    RayResources,
    describe_gateways,
    describe_ray,
)
from orchestrator.contracts.queues import Queue
from orchestrator.temporal.identity import parse_identity

TTL_SECONDS = 5.0
WAIT_SECONDS = 1.0
RPC_TIMEOUT = timedelta(seconds=3)
NOT_YET = "not known yet; ask again in a moment"

GONE_SECONDS = 75.0
"""A worker polls at least every minute; Temporal lists one that died for five."""
WORKERS = {
    "store worker": (Queue.LEAGUE, Queue.STORE),
    "train worker": (Queue.TRAIN, Queue.PLAY, Queue.INTERACTIVE),
}
"""The queues of each kind of worker. One that is fully busy does not poll the queue of its work, but its other ones."""

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class WorkerSeen:
    """One worker process at one queue."""

    identity: str
    queue: Queue
    last_seen: datetime
    gone: bool = False
    """Whether the process has polled none of its queues for a while: it ended, or cannot reach Temporal."""


@dataclass(frozen=True, kw_only=True)
class QueueSeen:
    """One task queue."""

    name: Queue
    backlog: int
    backlog_age_seconds: float
    pollers: int
    """Workers that polled it of late; one that died is listed by Temporal for minutes."""


@dataclass(frozen=True, kw_only=True)
class TaskQueues:
    """Every task queue, and the workers that poll them."""

    workers: list[WorkerSeen]
    queues: list[QueueSeen]


@dataclass(frozen=True, kw_only=True)
class RaySeen:
    """What a train worker tells of Ray, and its clock against this process's."""

    resources: RayResources
    train_clock: Skew | None = None


@dataclass(frozen=True)
class Observation(Generic[Value]):
    """A value, or the reason why it is unknown."""

    value: Value | None
    reason: str = ""


class ClusterStatus:
    """Workers, task queues, Ray and gateways."""

    def __init__(self, temporal: Client, *, wait: float | None = None) -> None:
        """`wait`: how long somebody who asks waits; by default a second."""
        self._temporal, self._wait = temporal, wait
        self._task_queues = Cache[Observation[TaskQueues]](1, ttl=TTL_SECONDS)
        self._ray = Cache[Observation[RaySeen]](1, ttl=TTL_SECONDS)
        self._gateways = Cache[Observation[GatewaysSeen]](1, ttl=TTL_SECONDS)

    async def task_queues(self) -> Observation[TaskQueues]:
        """Task queues and their workers, at most a few seconds old if Temporal answers within a second."""
        found = await self._task_queues.get_or_stale("task_queues", self._describe_all, wait=self._wait or WAIT_SECONDS)
        return found or Observation(None, NOT_YET)

    async def ray(self) -> Observation[RayResources]:
        """Ray's resources, as `ray_seen`."""
        seen = await self.ray_seen()
        return Observation(None if seen.value is None else seen.value.resources, seen.reason)

    async def ray_seen(self) -> Observation[RaySeen]:
        """Ray's resources as a train worker sees them, at most a few seconds old if it answers within a second."""
        found = await self._ray.get_or_stale("ray", self._describe_ray, wait=self._wait or WAIT_SECONDS)
        return found or Observation(None, NOT_YET)

    async def gateways(self) -> Observation[GatewaysSeen]:
        """Gateways as a train worker sees them, at most a few seconds old if it answers within a second."""
        found = await self._gateways.get_or_stale("gateways", self._describe_gateways, wait=self._wait or WAIT_SECONDS)
        return found or Observation(None, NOT_YET)

    async def _describe_all(self) -> Observation[TaskQueues]:
        try:
            answers = await asyncio.gather(*(self._describe(queue) for queue in Queue))
        except (RPCError, RuntimeError) as error:  # the SDK raises RuntimeError where it cannot connect
            return Observation(None, outage(error))
        return Observation(read_task_queues(dict(zip(Queue, answers, strict=True)), datetime.now(UTC)))

    async def _describe_ray(self) -> Observation[RaySeen]:
        await self.task_queues()  # asked for first, so that only the question itself is timed
        before = time.time()
        answer = await self._ask_train_worker(describe_ray, RayRequest())
        if answer.value is None:
            return Observation(None, answer.reason)
        asked_at = answer.value.asked_at
        clock = None if asked_at is None else skew_between(before, asked_at, time.time())
        return Observation(RaySeen(resources=answer.value, train_clock=clock))

    async def _describe_gateways(self) -> Observation[GatewaysSeen]:
        return await self._ask_train_worker(describe_gateways, GatewaysRequest())

    async def _ask_train_worker(self, question: Question[Message, Answer], message: Message) -> Observation[Answer]:
        found = await self.task_queues()
        if found.value is None:
            return Observation(None, found.reason)
        if not any(worker.queue is Queue.INTERACTIVE for worker in found.value.workers):
            return Observation(None, "no train worker is running; start one with `lanista worker train`")
        try:
            answer = await ask(self._temporal, question, message)
        except ProblemError as refusal:
            return Observation(None, refusal.detail)
        return Observation(answer)

    async def _describe(self, queue: Queue) -> DescribeTaskQueueResponse:
        """`league` is a queue of workflow tasks; all others are queues of activities."""
        kind = (
            TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW if queue is Queue.LEAGUE else TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
        )
        request = DescribeTaskQueueRequest(
            namespace=self._temporal.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=kind,
            report_stats=True,
        )
        return await self._temporal.workflow_service.describe_task_queue(request, timeout=RPC_TIMEOUT)


def silent_workers(seen: TaskQueues, now: datetime) -> dict[str, str]:
    """Kinds of workers of which none has polled any of its queues in time, and what is known of each."""
    found = {}
    for name, queues in WORKERS.items():
        polls = [worker.last_seen for worker in seen.workers if worker.queue in queues]
        if not polls:
            found[name] = "none is running"
        elif (now - max(polls)).total_seconds() > GONE_SECONDS:
            found[name] = f"no poll since {max(polls):%H:%M:%S} UTC"
    return found


def read_task_queues(answers: Mapping[Queue, DescribeTaskQueueResponse], now: datetime) -> TaskQueues:
    """What Temporal's answers tell. A worker that polled none of its queues in time is gone, and serves none."""
    polls: dict[str, datetime] = {}
    seen = [
        (queue, poller.identity, poller.last_access_time.ToDatetime(tzinfo=UTC))
        for queue, answer in answers.items()
        for poller in sorted(answer.pollers, key=lambda each: each.identity)
    ]
    for _, identity, last_seen in seen:
        polls[identity] = max(last_seen, polls.get(identity, last_seen))
    gone = {identity for identity, last in polls.items() if (now - last).total_seconds() > GONE_SECONDS}
    # a container that was started again has a process of the same name
    named: dict[tuple[Queue, str], WorkerSeen] = {}
    for queue, identity, last_seen in seen:
        name = parse_identity(identity).shown
        worker = WorkerSeen(identity=name, queue=queue, last_seen=last_seen, gone=identity in gone)
        if (queue, name) not in named or named[queue, name].last_seen < last_seen:
            named[queue, name] = worker
    return TaskQueues(
        workers=list(named.values()),
        queues=[_queue(queue, answer, gone) for queue, answer in answers.items()],
    )


def _queue(queue: Queue, answer: DescribeTaskQueueResponse, gone: set[str]) -> QueueSeen:
    return QueueSeen(
        name=queue,
        backlog=answer.stats.approximate_backlog_count,
        backlog_age_seconds=answer.stats.approximate_backlog_age.ToTimedelta().total_seconds(),
        pollers=len({each.identity for each in answer.pollers} - gone),
    )
