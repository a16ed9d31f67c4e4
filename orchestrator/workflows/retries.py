"""Retries of activities whose every failed attempt is an event that people see.

Most activities are retried by the server, by the `RetryPolicy` of their stub; an activity that has to wait for
something sets `next_retry_delay`. Training, playing and making the first weights are retried here, one attempt a
command, because a server-side retry cannot do what they need:

- Each failed attempt becomes an event of the trial. The server tells a workflow nothing about attempts that it
  repeats, and a worker that was killed cannot report its own death. Only the workflow learns of both.
- A retried generation gives up its place in the queue (`Urgency.IN_STEP`); a server-side retry keeps the priority
  that it was scheduled with.
- The number of attempts continues over runs of the workflow, and is recorded with the generation.
- A pause between attempts ends when the trial stops, and `DAMAGED_CHECKPOINT` needs a rollback and a new plan.

See docs/decisions/temporal.md.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, TimeoutType, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from league.types import CheckpointRef
    from orchestrator.contracts.errors import Failure
    from orchestrator.contracts.generations import PARTIAL, PartialGeneration
    from orchestrator.contracts.queues import ActivityStub
    from orchestrator.contracts.workflow_labels import summary_line

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+")

Message = TypeVar("Message")
Result = TypeVar("Result")

MAX_UNKNOWN_FAILURES = 5
"""Failures of user code or of an unknown kind in a row before retrying ends: a bug does not go away."""
FAILURES_PER_RUN = 50
"""Failed attempts after which a workflow continues as new: an outage may last for weeks, a history must stay small."""
OUTAGE_TRIES = 40
"""Attempts at most 8 s apart, five minutes in all, before the delays of a longer outage of the artifact store grow."""
NON_RETRYABLE = frozenset({Failure.BAD_INPUT, Failure.NOT_FOUND})
HANDLED_BY_CALLER = frozenset({Failure.DAMAGED_CHECKPOINT})
MAY_BE_A_BUG = frozenset({Failure.USER_CODE, Failure.UNKNOWN})


@dataclass(frozen=True, kw_only=True)
class FailedAttempt:
    """One failed attempt, and the delay before the next one."""

    failure: Failure
    problem: str
    tries: int
    delay: timedelta
    lost_steps: int = 0

    @property
    def payload(self) -> dict[str, Any]:
        """The attempt as part of an event's payload."""
        return {
            "failure": self.failure.value,
            "problem": self.problem,
            "tries": self.tries,
            "delay_seconds": self.delay.total_seconds(),
            "lost_steps": self.lost_steps,
        }


class RetriesExhausted(Exception):
    """No further attempt is made. `final`: none could succeed; otherwise the caller asked to stop."""

    def __init__(self, last: FailedAttempt, *, final: bool) -> None:
        super().__init__(f"{last.failure}: {last.problem}")
        self.last = last
        self.final = final

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.last, final=self.final), ()


def classify_failure(error: ActivityError) -> tuple[Failure, str]:
    """The kind of failure, and its description for people."""
    cause = error.cause
    if isinstance(cause, TimeoutError):
        if cause.type is TimeoutType.HEARTBEAT:
            return Failure.WORKER_LOST, "the worker sent no heartbeat in time"
        return Failure.STALLED, "the attempt exceeded its time limit"
    if isinstance(cause, ApplicationError) and cause.type in set(Failure):
        return Failure(cause.type), cause.message
    return Failure.UNKNOWN, str(cause or error)


def lost_steps(error: ActivityError) -> int:
    """Steps that the failed attempt had made, by its last heartbeat or by what it raised; 0 where neither says so.

    Those before its last mid-generation checkpoint are not lost.
    """
    told, kept = _told(error), partial_of(error)
    steps = told.get("steps")
    return max(0, steps - (0 if kept is None else kept.steps)) if isinstance(steps, int) else 0


def partial_of(error: ActivityError) -> PartialGeneration | None:
    """The newest mid-generation checkpoint that the failed attempt told of."""
    told = _told(error).get(PARTIAL)
    if not isinstance(told, dict):
        return None
    return PartialGeneration(
        checkpoint=CheckpointRef(**told["checkpoint"]),
        outcome=CheckpointRef(**told["outcome"]),
        updates=told["updates"],
        steps=told["steps"],
    )


def _told(error: ActivityError) -> dict[str, Any]:
    """What the attempt said with its last heartbeat, or with what it raised."""
    cause = error.cause
    told: Sequence[Any] = ()
    if isinstance(cause, TimeoutError):
        told = cause.last_heartbeat_details
    elif isinstance(cause, ApplicationError):
        told = cause.details
    return told[0] if told and isinstance(told[0], dict) else {}


def as_lost_games(error: ActivityError) -> FailedAttempt | None:
    """The failed attempt whose games must be played again; None for any other failure."""
    failure, problem = classify_failure(error)
    lost = FailedAttempt(failure=failure, problem=problem, tries=1, delay=timedelta(0))
    return lost if failure is Failure.GAMES_LOST else None


def error_text(error: BaseException) -> str:
    """The failure and its description in one line."""
    if not isinstance(error, ActivityError):
        return str(error)
    failure, problem = classify_failure(error)
    return f"{failure}: {problem}"


async def retry_activity(
    activity: ActivityStub[Message, Result],
    message: Message,
    *,
    on_failure: Callable[[FailedAttempt], Awaitable[None]],
    should_stop: Callable[[], bool] = lambda: False,
    tries: int = 0,
    next_message: Callable[[Message, ActivityError], Message] = lambda message, _: message,
) -> tuple[Result, int]:
    """Run the activity until it succeeds; returns its result and the number of attempts.

    Raises RetriesExhausted after a failure that no retry can fix, after one that the caller must handle, and after any
    failure once `should_stop()` holds. A cancelled attempt raises as it is. `tries` counts the attempts of earlier
    runs of the workflow; delays continue to grow from there. User code that raises the same error twice in a row is not
    tried again: an attempt is a function of its message, so it would raise again. `next_message` makes the message of
    the next attempt of that of the failed one.
    """
    unknown, before = 0, ""
    while True:
        tries += 1
        try:
            return await activity(message), tries
        except ActivityError as error:
            if is_cancelled_exception(error) and workflow.patched("end-with-a-cancelled-attempt"):
                raise  # the caller cancelled it and wants no other attempt
            failure, problem = classify_failure(error)
            lost = lost_steps(error)
            message = next_message(message, error)
        unknown = unknown + 1 if failure in MAY_BE_A_BUG else 0
        delay = _delay(failure, tries)
        failed = FailedAttempt(failure=failure, problem=problem, tries=tries, delay=delay, lost_steps=lost)
        final = failure in NON_RETRYABLE | HANDLED_BY_CALLER or unknown >= MAX_UNKNOWN_FAILURES
        if failure is Failure.USER_CODE and _same_error(before, problem):
            final = final or workflow.patched("end-with-a-repeated-user-error")
        before = problem if failure is Failure.USER_CODE else ""
        if final or should_stop():
            raise RetriesExhausted(failed, final=final)
        await on_failure(failed)
        if failed.delay:
            await workflow.sleep(failed.delay, summary=summary_line(f"before attempt {tries + 1}: {failure}"))


def _same_error(before: str, now: str) -> bool:
    """Whether two descriptions differ in numbers and addresses at most."""
    return bool(before) and _NUMBER.sub("#", before) == _NUMBER.sub("#", now)


def _delay(failure: Failure, tries: int) -> timedelta:
    """No delay for a lost process, unless it is lost again and again; exponential delays for other failures."""
    doubled = 2.0 ** min(tries - 1, 8)
    if failure in (Failure.STORE_FULL, Failure.STORE_UNAVAILABLE):
        # most outages last for minutes, and the league waits for the next attempt when one ends
        longer = 2.0 ** min(max(0, tries - OUTAGE_TRIES), 8)
        return timedelta(seconds=min(300.0, min(8.0, doubled) * longer))
    if failure is Failure.KEY_UNKNOWN:
        return timedelta(seconds=min(300.0, 5.0 * doubled))
    if failure is Failure.NO_GAMECORE:
        return timedelta(seconds=1)  # each attempt waits by itself, and longer each time
    if failure in MAY_BE_A_BUG:
        return timedelta(seconds=min(60.0, 1.0 * doubled))
    if tries > 3:  # a process that is lost every time
        return timedelta(seconds=min(30.0, 0.5 * doubled))
    return timedelta(0)
