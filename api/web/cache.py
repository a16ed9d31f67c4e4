"""The API's cache: bounded, validated by state (an ETag) or age, thread-safe, with single flight.

Single flight: of many callers that miss the same key at once, one computes the value and the others wait for it.

See docs/decisions/api-load.md.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

import structlog

log = structlog.get_logger()

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Value]):
    state: Hashable
    value: Value
    computed_at: float


class Cache(Generic[Value]):
    """Holds the `max_entries` values that were computed last.

    A value is current while its state is the caller's and it is younger than `ttl` seconds. An exception is raised to
    every caller that waited for it and is not cached, nor is a value for which `keep` is false.
    """

    def __init__(
        self,
        max_entries: int,
        *,
        ttl: float = math.inf,
        keep: Callable[[Value], bool] = lambda value: True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_entries = max_entries
        self._ttl = ttl
        self._keep = keep
        self._clock = clock
        self._entries: dict[Hashable, _Entry[Value]] = {}
        self._flights: dict[tuple[Hashable, Hashable], Future[Value]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], Value], *, state: Hashable = None) -> Value:
        """The current value; the first caller that misses computes it in its own thread."""
        entry = self._current(key, state)
        if entry is not None:
            return entry.value
        flight, leads = self._join(key, state)
        if leads:
            try:
                self._land(key, state, flight, compute())
            except BaseException as error:
                self._crash(key, state, flight, error)
        return flight.result()

    async def get_async(
        self, key: Hashable, compute: Callable[[], Awaitable[Value]], *, state: Hashable = None
    ) -> Value:
        """The current value; computed in a separate task, which continues if the caller is cancelled."""
        entry = self._current(key, state)
        if entry is not None:
            return entry.value
        flight, leads = self._join(key, state)
        if leads:
            task = asyncio.create_task(self._fly(key, state, flight, compute))
            self._tasks.add(task)  # the event loop itself holds tasks by weak references
            task.add_done_callback(self._tasks.discard)
        return await asyncio.wrap_future(flight)

    async def get_or_stale(
        self, key: Hashable, compute: Callable[[], Awaitable[Value]], *, wait: float
    ) -> Value | None:
        """Stale-while-revalidate: the current value if it comes within `wait` seconds, else the last one, else None."""
        try:
            return await asyncio.wait_for(self.get_async(key, compute), wait)
        except TimeoutError:
            pass
        except Exception:
            log.exception("a value cannot be computed; the last one is used", key=key)
        entry = self._entries.get(key)
        return None if entry is None else entry.value

    def peek(self, key: Hashable, *, state: Hashable = None) -> Value | None:
        """The current value, if it is here; computes nothing and takes no lock."""
        entry = self._current(key, state)
        return None if entry is None else entry.value

    def clear(self) -> None:
        """Drop every value, including those being computed, which their callers still get."""
        with self._lock:
            self._entries.clear()
            self._flights.clear()

    def _current(self, key: Hashable, state: Hashable) -> _Entry[Value] | None:
        entry = self._entries.get(key)
        if entry is None or entry.state != state or self._clock() - entry.computed_at >= self._ttl:
            return None
        return entry

    def _join(self, key: Hashable, state: Hashable) -> tuple[Future[Value], bool]:
        """The flight that computes this value, and whether the caller leads it."""
        with self._lock:
            flight = self._flights.get((key, state))
            if flight is not None:
                return flight, False
            flight = Future()
            flight.set_running_or_notify_cancel()  # so that a caller that is cancelled cannot cancel it for all
            entry = self._current(key, state)
            if entry is not None:  # computed since the caller looked
                flight.set_result(entry.value)
                return flight, False
            self._flights[key, state] = flight
            return flight, True

    async def _fly(
        self, key: Hashable, state: Hashable, flight: Future[Value], compute: Callable[[], Awaitable[Value]]
    ) -> None:
        try:
            self._land(key, state, flight, await compute())
        except BaseException as error:
            self._crash(key, state, flight, error)
            if isinstance(error, asyncio.CancelledError):
                raise

    def _land(self, key: Hashable, state: Hashable, flight: Future[Value], value: Value) -> None:
        kept = self._keep(value)
        with self._lock:
            if self._flights.get((key, state)) is flight:  # else `clear` was called since it began
                del self._flights[key, state]
                if kept:
                    self._store(key, _Entry(state, value, self._clock()))
        flight.set_result(value)

    def _crash(self, key: Hashable, state: Hashable, flight: Future[Value], error: BaseException) -> None:
        with self._lock:
            if self._flights.get((key, state)) is flight:
                del self._flights[key, state]
        flight.set_exception(error)

    def _store(self, key: Hashable, entry: _Entry[Value]) -> None:
        self._entries.pop(key, None)  # a value computed again moves to the end of the queue for eviction
        self._entries[key] = entry
        while len(self._entries) > self._max_entries:
            del self._entries[next(iter(self._entries))]
