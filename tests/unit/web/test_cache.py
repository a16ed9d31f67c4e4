"""The API's cache: current by state and age, bounded, one computation for all who wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from api.web.cache import Cache


class Computed:
    """Counts how often it was asked to compute, and answers with the count."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> int:
        self.count += 1
        return self.count

    async def later(self) -> int:
        await asyncio.sleep(0)
        return self()


def gather_threads(number: int, work: Callable[[], object]) -> list[object]:
    with ThreadPoolExecutor(number) as pool:
        return [future.result() for future in [pool.submit(work) for _ in range(number)]]


def test_a_value_is_current_for_its_state_alone() -> None:
    cache, compute = Cache[int](4), Computed()
    assert [cache.get("a", compute, state=state) for state in ("x", "x", "y", "y", "x")] == [1, 1, 2, 2, 3]
    assert cache.peek("a", state="x") == 3 and cache.peek("a", state="y") is None


def test_a_value_is_current_until_it_is_too_old() -> None:
    now = [0.0]
    cache, compute = Cache[int](4, ttl=5, clock=lambda: now[0]), Computed()
    assert (cache.get("a", compute), cache.peek("a")) == (1, 1)
    now[0] = 4.9
    assert (cache.get("a", compute), cache.peek("a")) == (1, 1)
    now[0] = 5.0
    assert cache.peek("a") is None
    assert cache.get("a", compute) == 2


def test_it_holds_the_values_computed_last() -> None:
    cache, compute = Cache[int](2), Computed()
    for key in "abc":
        cache.get(key, compute)
    assert [cache.peek(key) for key in "abc"] == [None, 2, 3]
    cache.get("b", compute, state="new")
    cache.get("d", compute)
    assert (cache.peek("b", state="new"), cache.peek("c"), cache.peek("d")) == (4, None, 5)


def test_of_many_threads_one_computes() -> None:
    cache, count, compute = Cache[int](4), 8, Computed()
    together = threading.Barrier(count)

    def slow() -> int:
        threading.Event().wait(0.05)
        return compute()

    def work() -> int:
        together.wait()
        return cache.get("a", slow)

    assert gather_threads(count, work) == [1] * count and compute.count == 1


def test_an_error_reaches_every_caller_that_waited_and_is_not_cached() -> None:
    cache, together = Cache[int](4), threading.Barrier(4)
    raised = []

    def fail() -> int:
        threading.Event().wait(0.05)
        raised.append(1)
        raise ValueError("away")

    def work() -> str:
        together.wait()
        with pytest.raises(ValueError, match="away") as caught:
            cache.get("a", fail)
        return str(caught.value)

    assert gather_threads(4, work) == ["away"] * 4 and raised == [1]
    assert cache.get("a", lambda: 7) == 7


def test_what_is_not_to_be_kept_is_computed_again() -> None:
    cache, compute = Cache[int](4, keep=lambda value: value > 1), Computed()
    assert [cache.get("a", compute) for _ in range(3)] == [1, 2, 2]


def test_a_value_begun_before_clear_is_not_cached() -> None:
    cache = Cache[str](4)

    def compute() -> str:
        cache.clear()  # as a revocation in another thread would
        return "old"

    assert cache.get("a", compute) == "old"
    assert cache.peek("a") is None and cache.get("a", lambda: "new") == "new"


async def test_of_many_tasks_one_computes() -> None:
    cache, compute = Cache[int](4), Computed()
    assert await asyncio.gather(*(cache.get_async("a", compute.later) for _ in range(5))) == [1] * 5
    assert await cache.get_async("a", compute.later) == 1


async def test_a_cancelled_caller_ends_nothing_for_the_others() -> None:
    cache, go_on = Cache[str](4), asyncio.Event()

    async def compute() -> str:
        await go_on.wait()
        return "here"

    first = asyncio.create_task(cache.get_async("a", compute))
    second = asyncio.create_task(cache.get_async("a", compute))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    go_on.set()
    assert first.cancelled() and await second == "here" and cache.peek("a") == "here"


async def test_a_slow_answer_keeps_nobody_waiting_and_the_last_one_is_shown_meanwhile() -> None:
    now, go_on = [0.0], asyncio.Event()
    cache, compute = Cache[int](4, ttl=5, clock=lambda: now[0]), Computed()

    async def slow() -> int:
        await go_on.wait()
        return compute()

    assert await cache.get_or_stale("a", slow, wait=0.01) is None
    go_on.set()
    assert await cache.get_or_stale("a", slow, wait=5) == 1
    now[0] = 6.0
    go_on.clear()
    assert await asyncio.gather(*(cache.get_or_stale("a", slow, wait=0.01) for _ in range(3))) == [1] * 3
    go_on.set()
    assert await cache.get_or_stale("a", slow, wait=5) == 2 == compute.count


async def test_a_thread_waits_for_a_task() -> None:
    cache, go_on, compute = Cache[int](4), asyncio.Event(), Computed()

    async def slow() -> int:
        await go_on.wait()
        return compute()

    task = asyncio.create_task(cache.get_async("a", slow))
    await asyncio.sleep(0)
    thread = asyncio.create_task(asyncio.to_thread(cache.get, "a", compute))
    await asyncio.sleep(0.02)
    go_on.set()
    assert (await task, await thread) == (1, 1)


async def test_a_value_that_cannot_be_computed_leaves_the_last_one() -> None:
    cache = Cache[int](max_entries=1, ttl=0)

    async def first() -> int:
        return 1

    async def broken() -> int:
        raise ValueError("a bug")

    assert await cache.get_or_stale("a", broken, wait=5) is None
    assert await cache.get_or_stale("a", first, wait=5) == 1
    assert await cache.get_or_stale("a", broken, wait=5) == 1
