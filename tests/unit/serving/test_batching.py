"""Dynamic batching: by size or by delay, each request gets its own rows back, an error reaches all of its batch."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from workers.serving.batching import Arrays, DynamicBatcher


def doubled(rows: Arrays) -> Arrays:
    return {"action": rows["obs"] * 2}


def request(*values: float) -> Arrays:
    return {"obs": np.array(values)}


async def test_requests_that_come_together_run_as_one_batch() -> None:
    batcher = DynamicBatcher(doubled, max_rows=100, max_delay=0.005)
    answers = await asyncio.gather(batcher.act(request(1)), batcher.act(request(2, 3)), batcher.act(request(4)))
    assert [answer["action"].tolist() for answer in answers] == [[2], [4, 6], [8]]
    assert (batcher.stats.requests, batcher.stats.rows, batcher.stats.batches) == (3, 4, 1)


async def test_a_full_batch_does_not_wait() -> None:
    batcher = DynamicBatcher(doubled, max_rows=2, max_delay=3600)
    answers = await asyncio.gather(*(batcher.act(request(number)) for number in range(6)))
    assert [answer["action"].tolist() for answer in answers] == [[2.0 * number] for number in range(6)]
    assert batcher.stats.batches == 3


async def test_requests_with_other_columns_run_by_themselves() -> None:
    batcher = DynamicBatcher(doubled, max_rows=100, max_delay=0.001)
    with_mask = request(2) | {"legal": np.ones((1, 3), np.bool_)}
    answers = await asyncio.gather(batcher.act(request(1)), batcher.act(with_mask))
    assert [answer["action"].tolist() for answer in answers] == [[2], [4]]
    assert batcher.stats.batches == 2


async def test_an_error_reaches_everyone_in_the_batch_and_nobody_after_it() -> None:
    def fails(rows: Arrays) -> Arrays:
        if (rows["obs"] < 0).any():
            raise ZeroDivisionError("negative")
        return doubled(rows)

    batcher = DynamicBatcher(fails, max_rows=100, max_delay=0.001)
    answers = await asyncio.gather(batcher.act(request(1)), batcher.act(request(-1)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [ZeroDivisionError, ZeroDivisionError]
    assert (await batcher.act(request(1)))["action"].tolist() == [2]


async def test_a_caller_that_gave_up_does_not_harm_the_others() -> None:
    batcher = DynamicBatcher(doubled, max_rows=100, max_delay=0.005)
    gone = asyncio.create_task(batcher.act(request(1)))
    stays = asyncio.create_task(batcher.act(request(2)))
    await asyncio.sleep(0)
    gone.cancel()
    assert (await stays)["action"].tolist() == [4]
    with pytest.raises(asyncio.CancelledError):
        await gone
