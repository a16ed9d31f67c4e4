"""Runs coroutines of agents by hand: an asyncio task for each tick would cost more than the tick.

A coroutine that waits for a decision yields it to its `Drive`, which goes on when the decision is made. One that waits
for a future of asyncio yields the future, as it would to a task.

See docs/decisions/remote-games.md.
"""

from __future__ import annotations

import asyncio
from asyncio.tasks import _enter_task, _leave_task
from collections.abc import Callable, Generator
from types import CoroutineType
from typing import Any

Outcome = Callable[[Any, BaseException | None], None]
"""Called once with what a coroutine returned, or raised."""

_current: Drive | None = None
"""The drive whose coroutine runs now. None inside tasks of asyncio, which the event loop runs."""


class Wait:
    """Something that an agent can await, in its own coroutine or in a task that it made."""

    __slots__ = ("_future", "_waiting", "done", "error", "value")

    def __init__(self) -> None:
        self.done = False
        self.value: Any = None
        self.error: BaseException | None = None
        self._waiting: list[Drive] | None = None
        self._future: asyncio.Future[None] | None = None

    def __await__(self) -> Generator[Any, Any, Any]:
        if not self.done:
            if _current is not None:
                yield self
            else:
                if self._future is None:
                    self._future = asyncio.get_running_loop().create_future()
                yield from asyncio.shield(self._future)
        if self.error is not None:
            raise self.error
        return self.value

    def resolve(self, value: Any, error: BaseException | None = None) -> None:
        """Let those who wait go on."""
        if self.done:
            return
        self.done, self.value, self.error = True, value, error
        if self._future is not None and not self._future.done():
            self._future.set_result(None)
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            for drive in waiting:
                drive.step()

    def add(self, drive: Drive) -> None:
        """Step this drive when it is done."""
        if self._waiting is None:
            self._waiting = [drive]
        else:
            self._waiting.append(drive)


class Drive:
    """One coroutine of an agent on its way to an end."""

    __slots__ = ("_coroutine", "_loop", "_outcome", "closed", "waits_for")

    def __init__(
        self, coroutine: CoroutineType[Any, Any, Any], outcome: Outcome, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._coroutine, self._outcome, self._loop = coroutine, outcome, loop
        self.closed = False
        self.waits_for: Wait | None = None

    def step(self) -> None:
        """Go on until the coroutine ends or waits."""
        global _current
        if self.closed:
            return
        self.waits_for = None
        # A transport may run inside a task of its own, which must not be taken for the agent's.
        task = asyncio.current_task(self._loop)
        if task is not None:
            _leave_task(self._loop, task)
        before, _current = _current, self
        outcome: tuple[Any, BaseException | None] | None = None
        try:
            yielded = self._coroutine.send(None)
        except StopIteration as end:
            self.closed = True
            outcome = (end.value, None)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit of an agent must not end the gateway
            self.closed = True
            outcome = (None, error)
        finally:
            _current = before
            if task is not None:
                _enter_task(self._loop, task)
        if outcome is not None:
            self._outcome(*outcome)
        elif self.closed:  # the coroutine closed itself
            self._close_coroutine()
        else:
            self._wait(yielded)

    def close(self) -> None:
        """End the coroutine where it waits; its outcome is not reported."""
        if self.closed:
            return
        self.closed = True
        if not self._coroutine.cr_running:
            self._close_coroutine()

    def _close_coroutine(self) -> None:
        try:
            self._coroutine.close()
        except Exception as error:  # a `finally` of the user's may raise, or await something
            self._loop.call_exception_handler({"message": "an agent failed as it was closed", "exception": error})

    def _wait(self, yielded: Any) -> None:
        if isinstance(yielded, Wait):
            self.waits_for = yielded
            if yielded.done:
                self.step()
            else:
                yielded.add(self)
        elif getattr(yielded, "_asyncio_future_blocking", None):
            yielded._asyncio_future_blocking = False
            yielded.add_done_callback(lambda _: self.step())
        elif yielded is None:  # asyncio.sleep(0)
            self._loop.call_soon(self.step)
        else:
            self.closed = True
            self._close_coroutine()
            self._outcome(None, RuntimeError(f"an agent awaited {yielded!r}, which is not of asyncio"))


def as_coroutine(awaitable: Any) -> CoroutineType[Any, Any, Any]:
    """Any awaitable as a coroutine."""
    if isinstance(awaitable, CoroutineType):
        return awaitable

    async def wait() -> Any:
        return await awaitable

    return wait()  # type: ignore[return-value]
