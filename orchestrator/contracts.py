"""What workflows and activities say to each other: queues, messages, and one typed stub for each activity."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Generic, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy

Message = TypeVar("Message")
Result = TypeVar("Result")


class Queue(StrEnum):
    """Task queues, each with slots of its own so that none starves another."""

    LEAGUE = "league"
    """Workflows; polled by the store worker."""
    STORE = "store"
    """Transactions; polled by the store worker."""
    TRAIN = "train"
    """Generations on Ray; polled by the train worker."""
    PLAY = "play"
    """Gating and tournament games on Ray; polled by the train worker."""
    INTERACTIVE = "interactive"
    """Short answers for a waiting person, without Ray; polled by the train worker."""


@dataclass(frozen=True, kw_only=True)
class ActivityStub(Generic[Message, Result]):
    """An activity as a workflow sees it: call it with one message, await one result.

    The implementation registers under `name` beside what it touches (api/activities.py, workers/activities.py).
    """

    name: str
    queue: Queue
    message: type[Message]
    result: type[Result]
    start_to_close: timedelta
    heartbeat: timedelta | None = None
    retry: RetryPolicy = field(default_factory=lambda: RetryPolicy(maximum_interval=timedelta(seconds=10)))

    async def __call__(self, message: Message) -> Result:
        result: Result = await workflow.execute_activity(
            self.name,
            message,
            result_type=self.result,
            task_queue=self.queue,
            start_to_close_timeout=self.start_to_close,
            heartbeat_timeout=self.heartbeat,
            retry_policy=self.retry,
        )
        return result


@dataclass(frozen=True, kw_only=True)
class PartRequest:
    """Ask one part of the system to prove that it works."""

    check: str
    """Unique to one check, so that the proof it leaves behind can be found again."""


@dataclass(frozen=True, kw_only=True)
class PartReport:
    """One part's proof."""

    part: str
    detail: str
    milliseconds: float


@dataclass(frozen=True, kw_only=True)
class SystemReport:
    """What a system check found, part by part."""

    parts: list[PartReport]


def _part_stub(part: str, queue: Queue, seconds: int = 60) -> ActivityStub[PartRequest, PartReport]:
    return ActivityStub(
        name=f"check_{part}",
        queue=queue,
        message=PartRequest,
        result=PartReport,
        start_to_close=timedelta(seconds=seconds),
    )


check_store = _part_stub("store", Queue.STORE)
check_train = _part_stub("train", Queue.TRAIN)
check_play = _part_stub("play", Queue.PLAY)
check_interactive = _part_stub("interactive", Queue.INTERACTIVE)

SYSTEM_CHECKS = (check_store, check_train, check_play, check_interactive)
"""Every activity queue is proven by one of these."""
