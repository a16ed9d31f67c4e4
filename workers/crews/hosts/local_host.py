"""Actors in this process, without Ray: for `lanista try`, where user code runs under a debugger.

A call is run when its result is waited for, after all calls that were started before it. So every actor sees its calls
in the order of Ray, and a generation gives the same checkpoint.

See docs/decisions/crews.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.actors import CrewActor
from workers.crews.errors import BadTask
from workers.crews.hosts.contract import POLL_SECONDS, ActorHandle, ActorHost, OnWaiting, ShouldStop
from workers.crews.plan import Bundle, CrewPlan


class LocalHost(ActorHost):
    """Actors as plain objects. Their calls run one after the other, in the thread that waits for them."""

    def __init__(self) -> None:
        self._waiting: deque[LocalCall] = deque()

    def reserve(self, plan: CrewPlan, should_stop: ShouldStop, on_waiting: OnWaiting) -> None:
        """Check that one process can train the plan: those that average gradients wait for each other."""
        if plan.learners > 1:
            field = "trainers" if plan.split else "rollout_actors"
            raise BadTask(
                f"generation.{field} is {plan.learners}: processes that learn together need Ray (--ray); "
                f"in one process {field} must be 1"
            )

    def launch(
        self, kind: type[CrewActor], count: int, bundle: Bundle, plan: CrewPlan, store: ArtifactStore
    ) -> list[ActorHandle]:
        return [LocalActor(kind(plan, store, rank), self._waiting) for rank in range(count)]

    def wait(
        self, calls: Sequence[LocalResult], seconds: float = POLL_SECONDS
    ) -> tuple[list[LocalResult], list[LocalResult]]:
        """Run calls until one of these has ended, however long that takes."""
        while not any(result.call.ended for result in calls):
            self._waiting.popleft().run()
        ended = next(result for result in calls if result.call.ended)
        return [ended], [result for result in calls if result is not ended]

    def results(self, calls: Sequence[LocalResult]) -> list[Any]:
        for result in calls:
            while not result.call.ended:
                self._waiting.popleft().run()
        return [result.value() for result in calls]

    def stop(self, actors: Sequence[ActorHandle], calls: Sequence[LocalResult], seconds: float) -> bool:
        """Drop the calls that have not run: none is under way while the driver asks."""
        self._waiting.clear()
        return True

    def close(self, actors: Sequence[ActorHandle]) -> None:
        self._waiting.clear()


class LocalActor:
    """Stands for an actor as Ray's handles do: `handle.method.remote(...)` starts a call."""

    def __init__(self, actor: CrewActor, waiting: deque[LocalCall]) -> None:
        self.actor, self._calls = actor, waiting

    def __getattr__(self, name: str) -> LocalMethod:
        return LocalMethod(getattr(self.actor, name), self._calls)


class LocalMethod:
    """One method of an actor."""

    def __init__(self, method: Callable[..., Any], waiting: deque[LocalCall], results: int = 1) -> None:
        self._method, self._calls, self._results = method, waiting, results

    def options(self, *, num_returns: int) -> LocalMethod:
        """The method with this many results, each of which can be given to other calls."""
        return LocalMethod(self._method, self._calls, num_returns)

    def remote(self, *arguments: Any) -> Any:
        """Start a call: it runs when it or a later one is waited for."""
        call = LocalCall(self._method, arguments, copies=self._results > 1)
        self._calls.append(call)
        if self._results == 1:
            return LocalResult(call)
        return tuple(LocalResult(call, number) for number in range(self._results))


class LocalCall:
    """A call that was started; `run` is called once."""

    def __init__(self, method: Callable[..., Any], arguments: tuple[Any, ...], *, copies: bool) -> None:
        self._method, self._arguments, self._copies = method, arguments, copies
        self.ended = False
        self._value: Any = None
        self._error: Exception | None = None

    def run(self) -> None:
        arguments = [each.value() if isinstance(each, LocalResult) else each for each in self._arguments]
        self._arguments = ()
        try:
            value = self._method(*arguments)
            # an actor may use its arrays again while another one still reads them
            self._value = deepcopy(value) if self._copies else value
        except Exception as error:
            self._error = error
        self.ended = True

    def value(self) -> Any:
        """What the method returned; raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._value


class LocalResult:
    """A result of a call, as Ray's object references are."""

    def __init__(self, call: LocalCall, number: int | None = None) -> None:
        self.call, self._number = call, number

    def value(self) -> Any:
        """The result; raises what the call raised."""
        value = self.call.value()
        return value if self._number is None else value[self._number]
