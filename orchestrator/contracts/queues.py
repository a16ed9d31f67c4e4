"""Task queues, and the typed stub by which a workflow calls an activity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Generic, TypeVar

from temporalio import workflow
from temporalio.common import Priority, RetryPolicy

from orchestrator.contracts.workflow_labels import summary_line

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


RETRY_FOREVER = RetryPolicy(initial_interval=timedelta(seconds=0.5), maximum_interval=timedelta(seconds=4))
"""Outages end, so retries are unlimited, and soon after one another: a league waits for the next one when the outage
ends. An activity raises a failure that can never succeed as non-retryable."""
RETRY_FEW_TIMES = RetryPolicy(initial_interval=timedelta(seconds=0.5), maximum_attempts=4)
"""For optional work."""
NO_RETRY = RetryPolicy(maximum_attempts=1)
"""The workflow decides about the next attempt: see `orchestrator.workflows.retries`."""


def before_all(message: object) -> int:
    """The urgency of orders that a person waits for: players' transactions fill the queue of a large league."""
    return 1


@dataclass(frozen=True, kw_only=True)
class ActivityStub(Generic[Message, Result]):
    """An activity as a workflow calls it: one message in, one result out.

    The implementation registers under `name` beside what it touches (api/activities/, workers/activities/).
    """

    name: str
    queue: Queue
    message: type[Message]
    result: type[Result]
    start_to_close: timedelta = timedelta(seconds=20)
    """The time limit of one attempt; the default suits a short transaction."""
    heartbeat: timedelta | None = None
    """How long an attempt may be silent; None: it sends no heartbeats."""
    retry: RetryPolicy = field(default_factory=lambda: RETRY_FOREVER)
    urgency: Callable[[Message], int] | None = None
    """Priority from 1, served first, to 5; 3 where this is None. Tasks of equal priority are served in order."""
    fairness: Callable[[Message], tuple[str, float]] | None = None
    """The group that a task of equal priority belongs to, and its weight: groups are served in proportion to them."""
    summary: Callable[[Message], str] | None = None
    """One line for Temporal's Web UI: what this call is about."""

    async def __call__(self, message: Message) -> Result:
        return await self.start(message)

    def start(self, message: Message) -> workflow.ActivityHandle[Result]:
        """Schedule it; the handle can be awaited or cancelled."""
        handle: workflow.ActivityHandle[Result] = workflow.start_activity(
            self.name,
            message,
            result_type=self.result,
            task_queue=self.queue,
            start_to_close_timeout=self.start_to_close,
            heartbeat_timeout=self.heartbeat,
            retry_policy=self.retry,
            priority=self._priority(message),
            summary=summary_line(self.summary(message)) if self.summary else None,
        )
        return handle

    def _priority(self, message: Message) -> Priority:
        group, weight = self.fairness(message) if self.fairness else (None, None)
        return Priority(
            priority_key=self.urgency(message) if self.urgency else None, fairness_key=group, fairness_weight=weight
        )
