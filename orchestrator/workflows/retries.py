"""Trying an activity again and again, with an event for each failure that a person should see."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, TimeoutType, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from orchestrator.contracts.errors import Failure
    from orchestrator.contracts.queues import ActivityStub

Message = TypeVar("Message")
Result = TypeVar("Result")

MOST_UNKNOWN = 5
"""Failures of an unknown kind in a row before giving up: a bug in a user's game does not mend itself."""
SETBACKS_A_RUN = 50
"""Failed attempts after which a run makes room for a new one: trouble may last for weeks, a history may not grow so."""
NEVER_AGAIN = frozenset({Failure.BAD_INPUT, Failure.NOT_FOUND})
LEFT_TO_CALLER = frozenset({Failure.DAMAGED_CHECKPOINT})


@dataclass(frozen=True, kw_only=True)
class Setback:
    """One failed attempt, and how long to wait before the next."""

    failure: Failure
    problem: str
    tries: int
    delay: timedelta


class GivenUp(Exception):
    """The last attempt's setback; `final` if no further attempt makes sense, else the caller wanted none."""

    def __init__(self, setback: Setback, *, final: bool) -> None:
        super().__init__(f"{setback.failure}: {setback.problem}")
        self.setback = setback
        self.final = final


def failure_of(error: ActivityError) -> tuple[Failure, str]:
    """What kind of failure it was, and the words for a person."""
    cause = error.cause
    if isinstance(cause, TimeoutError):
        if cause.type is TimeoutType.HEARTBEAT:
            return Failure.WORKER_LOST, "the worker gave no sign of life in time"
        return Failure.STALLED, "it took longer than one attempt may"
    if isinstance(cause, ApplicationError) and cause.type in set(Failure):
        return Failure(cause.type), cause.message
    return Failure.UNKNOWN, str(cause or error)


def lost_games(error: ActivityError) -> Setback | None:
    """The setback of games that were played and must be played again; None for any other failure."""
    failure, problem = failure_of(error)
    lost = Setback(failure=failure, problem=problem, tries=1, delay=timedelta(0))
    return lost if failure is Failure.GAMES_LOST else None


def words_of(error: ActivityError | GivenUp) -> str:
    """The failure and its problem in one line."""
    if isinstance(error, GivenUp):
        return str(error)
    failure, problem = failure_of(error)
    return f"{failure}: {problem}"


async def persist(
    activity: ActivityStub[Message, Result],
    message: Message,
    *,
    on_setback: Callable[[Setback], Awaitable[None]],
    given_up: Callable[[], bool] = lambda: False,
    tries: int = 0,
) -> tuple[Result, int]:
    """Run the activity until it succeeds; returns its result and how many attempts it took.

    Raises GivenUp for what can never work, for kinds of failure that the caller must act upon, and after a failure
    once `given_up`; an attempt that was cancelled is the last. `tries` are those that earlier runs of the workflow
    made: pauses go on growing from there.
    """
    unknown = 0
    while True:
        tries += 1
        try:
            return await activity(message), tries
        except ActivityError as error:
            if is_cancelled_exception(error) and workflow.patched("end-with-a-cancelled-attempt"):
                raise  # whoever had it cancelled wants no other
            failure, problem = failure_of(error)
        unknown = unknown + 1 if failure is Failure.UNKNOWN else 0
        setback = Setback(failure=failure, problem=problem, tries=tries, delay=_delay(failure, tries))
        final = failure in NEVER_AGAIN | LEFT_TO_CALLER or unknown >= MOST_UNKNOWN
        if final or given_up():
            raise GivenUp(setback, final=final)
        await on_setback(setback)
        if setback.delay:
            await workflow.sleep(setback.delay)


def _delay(failure: Failure, tries: int) -> timedelta:
    """A lost process is replaced at once; a full disk or an unknown trouble needs time."""
    doubled = 2.0 ** min(tries - 1, 8)
    if failure in (Failure.STORE_FULL, Failure.STORE_UNAVAILABLE):
        return timedelta(seconds=min(300.0, 5.0 * doubled))
    if failure is Failure.UNKNOWN:
        return timedelta(seconds=min(60.0, 1.0 * doubled))
    if tries > 3:  # even a lost process, if it is lost each time
        return timedelta(seconds=min(30.0, 0.5 * doubled))
    return timedelta(0)
