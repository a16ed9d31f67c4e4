"""Asks a worker on the `interactive` task queue while a user waits: one activity, without a workflow.

See docs/decisions/rest-and-idempotency.md.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import TypeVar

from temporalio.client import ActivityFailureError, Client
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from api.web.problems import ProblemError
from api.web.temporal.unavailable import unreachable
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.interactive import Question
from orchestrator.contracts.queues import Queue

Message = TypeVar("Message")
Answer = TypeVar("Answer")

START_TIMEOUT = timedelta(seconds=5)
"""A running worker takes a question at once. Without one, a person should not wait for the whole timeout."""
RETRY_ONCE = RetryPolicy(maximum_attempts=2, initial_interval=timedelta(milliseconds=200))


_REFUSED = frozenset({Failure.BAD_INPUT, Failure.USER_CODE, Failure.DAMAGED_CHECKPOINT})
"""Failures that are not the worker's."""


async def ask(temporal: Client, question: Question[Message, Answer], message: Message) -> Answer:
    """The worker's answer; 409 if the question cannot be answered or no worker is running."""
    try:
        answer: Answer = await temporal.execute_activity(
            question.name,
            message,
            id=f"{question.name}-{uuid.uuid4()}",
            task_queue=Queue.INTERACTIVE,
            result_type=question.answer,
            schedule_to_start_timeout=START_TIMEOUT,
            schedule_to_close_timeout=question.time_limit,
            start_to_close_timeout=question.time_limit,
            retry_policy=RETRY_ONCE,
        )
    except ActivityFailureError as error:
        raise _refusal(error.cause) from None
    except RPCError as error:
        raise unreachable(error) from None
    except RuntimeError as error:  # the SDK raises it where it cannot connect
        raise unreachable(error) from None
    return answer


def _refusal(cause: BaseException | None) -> ProblemError:
    if isinstance(cause, ApplicationError) and cause.type in _REFUSED:
        return ProblemError(409, cause.message)
    if isinstance(cause, ApplicationError):
        return ProblemError(503, f"the worker failed: {cause.message}")
    # 409 and not 503, because nothing is broken: the train worker may well be switched off
    return ProblemError(
        409, "no train worker answers; `lanista status` says whether it runs. It serves replays and games"
    )
