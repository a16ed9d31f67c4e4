"""Who works for this installation: workers and queues as Temporal knows them, and what Ray has left.

The page asks often and must never wait for a part that is away: each answer is kept for a few seconds, those who ask
meanwhile share one question, and whoever has waited long enough gets the last answer, or none and the reason.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeTaskQueueResponse
from temporalio.client import Client
from temporalio.service import RPCError

from api.web.problems import Refusal
from api.web.temporal.ask_worker import ask
from api.web.temporal.unavailable import silence
from orchestrator.contracts.interactive import RayRequest, RayResources, describe_ray
from orchestrator.contracts.queues import Queue

KEPT_SECONDS = 5.0
WAIT_SECONDS = 1.0
RPC_TIMEOUT = timedelta(seconds=3)

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class WorkerSeen:
    """One worker process at one queue."""

    identity: str
    queue: Queue
    last_seen: datetime


@dataclass(frozen=True, kw_only=True)
class QueueSeen:
    """One task queue."""

    name: Queue
    backlog: int
    backlog_age_seconds: float
    pollers: int


@dataclass(frozen=True, kw_only=True)
class Attendance:
    """Everybody who polls, and what waits for them."""

    workers: list[WorkerSeen]
    queues: list[QueueSeen]


@dataclass(frozen=True)
class Known(Generic[Value]):
    """What is known; without a value, why not."""

    value: Value | None
    reason: str = ""


class Remembered(Generic[Value]):
    """An answer that is asked for at most every few seconds, by one caller for all."""

    def __init__(self, find: Callable[[], Awaitable[Known[Value]]]) -> None:
        self._find = find
        self._known = Known[Value](None, "not known yet; ask again in a moment")
        self._until = 0.0
        self._under_way: asyncio.Task[None] | None = None

    async def get(self) -> Known[Value]:
        """The answer, fresh if it comes within a second, else the one before."""
        if time.monotonic() >= self._until:
            if self._under_way is None or self._under_way.done():
                self._under_way = asyncio.create_task(self._refresh())
            await asyncio.wait([self._under_way], timeout=WAIT_SECONDS)
        return self._known

    async def _refresh(self) -> None:
        self._known = await self._find()
        self._until = time.monotonic() + KEPT_SECONDS


class Fleet:
    """What the installation's page shows of workers, queues and Ray."""

    def __init__(self, temporal: Client) -> None:
        self._temporal = temporal
        self.attendance = Remembered(self._find_attendance)
        self.ray = Remembered(self._find_ray)

    async def _find_attendance(self) -> Known[Attendance]:
        try:
            answers = await asyncio.gather(*(self._describe(queue) for queue in Queue))
        except (RPCError, RuntimeError) as error:  # RuntimeError is how the SDK says it cannot connect
            return Known(None, silence(error))
        described = list(zip(Queue, answers, strict=True))
        return Known(
            Attendance(
                workers=[worker for queue, answer in described for worker in _workers(queue, answer)],
                queues=[_queue(queue, answer) for queue, answer in described],
            )
        )

    async def _find_ray(self) -> Known[RayResources]:
        attendance = await self.attendance.get()
        if attendance.value is None:
            return Known(None, attendance.reason)
        if not any(worker.queue is Queue.INTERACTIVE for worker in attendance.value.workers):
            return Known(None, "no train worker is there to ask; start one with `lanista worker train`")
        try:
            resources = await ask(self._temporal, describe_ray, RayRequest())
        except Refusal as refusal:
            return Known(None, refusal.detail)
        return Known(resources)

    async def _describe(self, queue: Queue) -> DescribeTaskQueueResponse:
        """Workflow tasks wait in `league`, activities in all others."""
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


def _workers(queue: Queue, answer: DescribeTaskQueueResponse) -> list[WorkerSeen]:
    return [
        WorkerSeen(
            identity=poller.identity,
            queue=queue,
            last_seen=poller.last_access_time.ToDatetime(tzinfo=UTC),
        )
        for poller in sorted(answer.pollers, key=lambda each: each.identity)
    ]


def _queue(queue: Queue, answer: DescribeTaskQueueResponse) -> QueueSeen:
    return QueueSeen(
        name=queue,
        backlog=answer.stats.approximate_backlog_count,
        backlog_age_seconds=answer.stats.approximate_backlog_age.ToTimedelta().total_seconds(),
        pollers=len(answer.pollers),
    )
