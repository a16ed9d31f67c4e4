"""Task queues, and the typed stub by which a workflow calls an activity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Generic, TypeVar

from temporalio import workflow
from temporalio.common import Priority, RetryPolicy

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


FOR_EVER = RetryPolicy(initial_interval=timedelta(seconds=0.5), maximum_interval=timedelta(seconds=10))
"""Outages end; what will never work is raised as non-retryable by the activity itself."""
FEW_TIMES = RetryPolicy(initial_interval=timedelta(seconds=0.5), maximum_attempts=4)
"""For what can also be left undone."""
ONCE = RetryPolicy(maximum_attempts=1)
"""The workflow itself decides about the next attempt, because each one is worth an event."""


@dataclass(frozen=True, kw_only=True)
class ActivityStub(Generic[Message, Result]):
    """An activity as a workflow sees it: call it with one message, await one result.

    The implementation registers under `name` beside what it touches (api/activities/, workers/activities/).
    """

    name: str
    queue: Queue
    message: type[Message]
    result: type[Result]
    start_to_close: timedelta = timedelta(seconds=20)
    """A worker that dies in the middle is noticed after this; the default suits a short transaction."""
    heartbeat: timedelta | None = None
    retry: RetryPolicy = field(default_factory=lambda: FOR_EVER)
    urgency: Callable[[Message], int] | None = None
    """From 1, served first, to 5; the middle where this is None. Equals are served in the order in which they come."""

    async def __call__(self, message: Message) -> Result:
        return await self.start(message)

    def start(self, message: Message) -> workflow.ActivityHandle[Result]:
        """Begin it, with a handle to wait for or to cancel."""
        handle: workflow.ActivityHandle[Result] = workflow.start_activity(
            self.name,
            message,
            result_type=self.result,
            task_queue=self.queue,
            start_to_close_timeout=self.start_to_close,
            heartbeat_timeout=self.heartbeat,
            retry_policy=self.retry,
            priority=Priority(priority_key=self.urgency(message)) if self.urgency else Priority.default,
        )
        return handle
