"""The service Replay: decisions that are pushed come back with their successors, within limits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import numpy as np
import pytest

from tests.unit.rpc.serving import connected
from workers.gateway.rpc.arrays import decode_array, decode_batch, encode_array, encode_batch
from workers.gateway.rpc.generated import replay_pb2 as pb
from workers.gateway.rpc.generated.replay_pb2_grpc import ReplayStub
from workers.gateway.rpc.replay import ReplayService

Status = grpc.StatusCode
MEMORY, LARGEST_REPLY = 1_000_000, 100_000


@pytest.fixture
async def stub() -> AsyncIterator[ReplayStub]:
    async with connected(ReplayService(MEMORY, LARGEST_REPLY)) as channel:
        yield ReplayStub(channel)


def columns(rows: int, first: int = 0) -> dict[str, Any]:
    """One game, its observations numbered."""
    number = np.arange(first, first + rows, dtype=np.float32)
    return {
        "obs": {"board": np.stack([number, -number], 1)},
        "action": np.zeros(rows, np.int64),
        "reward": number,
        "terminal": np.arange(rows) == rows - 1,
    }


def push(rows: dict[str, Any], buffer: str = "b") -> pb.PushRequest:
    return pb.PushRequest(buffer=buffer, columns=encode_batch(rows))


async def test_what_is_pushed_is_drawn_with_its_successor(stub: ReplayStub) -> None:
    opened = await stub.Open(pb.OpenRequest(buffer="b", capacity=100, gamma=0.5))
    assert (opened.capacity, opened.rows) == (100, 0)
    pushed = await stub.Push(push(columns(10)))
    assert (pushed.rows, pushed.added) == (10, 10)
    drawn = await stub.Sample(pb.SampleRequest(buffer="b", rows=64, seed=1))
    again = await stub.Sample(pb.SampleRequest(buffer="b", rows=64, seed=1))
    found = decode_batch(drawn.columns)
    number = found["obs/board"][:, 0]
    np.testing.assert_array_equal(found["next/obs/board"][:, 0], np.where(number == 9, 0, number + 1))
    np.testing.assert_array_equal(found["discount"], np.where(number == 9, 0, 0.5))
    np.testing.assert_array_equal(decode_array(drawn.ids), number)
    assert drawn == again
    closed = await stub.Close(pb.CloseRequest(buffer="b"))
    assert closed.rows == 10


async def test_the_oldest_decisions_go(stub: ReplayStub) -> None:
    await stub.Open(pb.OpenRequest(buffer="b", capacity=8))
    for first in (0, 5, 10):
        info = await stub.Push(push(columns(5, first)))
    assert (info.rows, info.added) == (8, 15)
    drawn = await stub.Sample(pb.SampleRequest(buffer="b", rows=100))
    assert decode_batch(drawn.columns)["reward"].min() >= 7


async def test_priorities(stub: ReplayStub) -> None:
    await stub.Open(pb.OpenRequest(buffer="b", capacity=64, priorities=pb.Priorities(alpha=1.0, beta=0.5)))
    await stub.Push(push(columns(10)))
    ids, errors = np.arange(10), np.where(np.arange(10) == 3, 1e6, 1e-6).astype(np.float32)
    await stub.Feedback(pb.FeedbackRequest(buffer="b", ids=encode_array(ids), errors=encode_array(errors)))
    drawn = await stub.Sample(pb.SampleRequest(buffer="b", rows=50))
    assert set(decode_array(drawn.ids).tolist()) == {3}


async def test_sequences(stub: ReplayStub) -> None:
    await stub.Open(pb.OpenRequest(buffer="b", capacity=64, sequences=pb.SequenceOptions(length=3, burn_in=1)))
    await stub.Push(push(columns(10)))
    found = decode_batch((await stub.Sample(pb.SampleRequest(buffer="b", rows=5))).columns)
    assert found["obs/board"].shape == (4, 5, 2)
    assert (found["mask"][0] == 0).all()


async def test_the_same_buffer_is_opened_once(stub: ReplayStub) -> None:
    await stub.Open(pb.OpenRequest(buffer="b", capacity=64))
    await stub.Push(push(columns(3)))
    assert (await stub.Open(pb.OpenRequest(buffer="b", capacity=64))).rows == 3
    with pytest.raises(grpc.aio.AioRpcError, match="with other options") as error:
        await stub.Open(pb.OpenRequest(buffer="b", capacity=65))
    assert error.value.code() is Status.FAILED_PRECONDITION


async def test_memory_is_limited(stub: ReplayStub) -> None:
    with pytest.raises(grpc.aio.AioRpcError, match="of 1 MB for all buffers") as error:
        await stub.Open(pb.OpenRequest(buffer="huge", capacity=1 << 40))
    assert error.value.code() is Status.RESOURCE_EXHAUSTED
    with pytest.raises(grpc.aio.AioRpcError, match="of 1 MB for all buffers"):
        await stub.Open(pb.OpenRequest(buffer="tree", capacity=1 << 40, priorities=pb.Priorities()))
    await stub.Open(pb.OpenRequest(buffer="b", capacity=40_000))
    with pytest.raises(grpc.aio.AioRpcError, match="full of such decisions, takes 1 MB") as error:
        await stub.Push(push(columns(3)))
    assert error.value.code() is Status.RESOURCE_EXHAUSTED
    assert (await stub.Describe(pb.DescribeBufferRequest(buffer="b"))).rows == 0
    await stub.Close(pb.CloseRequest(buffer="b"))
    await stub.Open(pb.OpenRequest(buffer="b", capacity=10_000))
    await stub.Push(push(columns(3)))
    for number in range(63):
        await stub.Open(pb.OpenRequest(buffer=f"b{number}", capacity=1))
    with pytest.raises(grpc.aio.AioRpcError, match="there are 64 buffers"):
        await stub.Open(pb.OpenRequest(buffer="one more", capacity=1))


BAD: list[tuple[Any, grpc.StatusCode, str]] = [
    (push(columns(3), "other"), Status.NOT_FOUND, "no buffer 'other'; there are: b"),
    (push({}), Status.INVALID_ARGUMENT, "needs the columns obs, action and reward"),
    (push({**columns(3), "reward": np.ones(2)}), Status.INVALID_ARGUMENT, "reward has another length"),
    (push({**columns(3), "reward": np.ones((3, 2))}), Status.INVALID_ARGUMENT, "one number a row"),
    (push({**columns(3), "action": np.int64(1)}), Status.INVALID_ARGUMENT, "action has no rows"),
    (push({**columns(3), "discount": np.ones(3)}), Status.INVALID_ARGUMENT, "discount is a name that draws give"),
    (push({**columns(3), "more": np.ones(3)}), Status.INVALID_ARGUMENT, "differ from those of the first push: more"),
    (push({**columns(3), "next_row": np.array([2, 1, 0])}), Status.INVALID_ARGUMENT, "a later row"),
    (push({**columns(3), "next_row": np.array([7, -1, -1])}), Status.INVALID_ARGUMENT, "a row below 3"),
    (push(columns(101)), Status.INVALID_ARGUMENT, "101 decisions into a buffer of 100"),
    (pb.SampleRequest(buffer="b", rows=0), Status.INVALID_ARGUMENT, "rows must be 1 to"),
    (pb.SampleRequest(buffer="b", rows=60_000), Status.RESOURCE_EXHAUSTED, "a reply may have 100000"),
    (pb.SampleRequest(buffer="b", rows=1), Status.FAILED_PRECONDITION, "warm_up is 50"),
    (pb.OpenRequest(buffer="c", capacity=0), Status.INVALID_ARGUMENT, "capacity is 0"),
    (pb.OpenRequest(buffer="c", capacity=5, warm_up=6), Status.INVALID_ARGUMENT, "warm_up 6"),
    (pb.OpenRequest(buffer="c", capacity=5, gamma=float("nan")), Status.INVALID_ARGUMENT, "gamma 0 to 1"),
    (pb.OpenRequest(buffer="c", capacity=5, n_step=-1), Status.INVALID_ARGUMENT, "n_step must be 1"),
    (pb.OpenRequest(buffer="c", capacity=5, priorities=pb.Priorities(alpha=2)), Status.INVALID_ARGUMENT, "alpha"),
    (pb.OpenRequest(buffer="c", capacity=5, sequences=pb.SequenceOptions()), Status.INVALID_ARGUMENT, "length"),
    (pb.OpenRequest(capacity=5), Status.INVALID_ARGUMENT, "buffer must be a name"),
    (pb.FeedbackRequest(buffer="b", ids=encode_array(0)), Status.INVALID_ARGUMENT, "errors: dtype 0"),
    (
        pb.FeedbackRequest(buffer="b", ids=encode_array([0]), errors=encode_array(np.ones(1, np.float32))),
        Status.FAILED_PRECONDITION,
        "has no priorities",
    ),
]


@pytest.mark.parametrize(("asked", "code", "words"), BAD)
async def test_bad_requests_are_refused(stub: ReplayStub, asked: Any, code: grpc.StatusCode, words: str) -> None:
    await stub.Open(pb.OpenRequest(buffer="b", capacity=100, warm_up=50))
    await stub.Push(push(columns(3)))
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await getattr(stub, type(asked).__name__.removesuffix("Request"))(asked)
    assert error.value.code() is code
    assert words in (error.value.details() or "")
    assert (await stub.Describe(pb.DescribeBufferRequest(buffer="b"))).added == 3


async def test_decisions_without_successors_are_not_drawn(stub: ReplayStub) -> None:
    await stub.Open(pb.OpenRequest(buffer="b", capacity=1000))
    rows = {**columns(500), "next_row": np.full(500, -2)}
    del rows["terminal"]
    await stub.Push(push(rows))
    with pytest.raises(grpc.aio.AioRpcError, match="the successors of 0 are known") as error:
        await stub.Sample(pb.SampleRequest(buffer="b", rows=1))
    assert error.value.code() is Status.FAILED_PRECONDITION


async def test_without_a_buffer_calls_are_refused_at_once_and_nothing_is_imported_for_them() -> None:
    service = ReplayService(MEMORY, LARGEST_REPLY)
    async with connected(service) as channel:
        stub = ReplayStub(channel)
        calls = (
            stub.Push(push(columns(1))),
            stub.Sample(pb.SampleRequest(buffer="b", rows=1)),
            stub.Feedback(pb.FeedbackRequest(buffer="b", ids=encode_array([0]), errors=encode_array([1.0]))),
            stub.Describe(pb.DescribeBufferRequest(buffer="b")),
            stub.Close(pb.CloseRequest(buffer="b")),
        )
        for call in calls:
            with pytest.raises(grpc.aio.AioRpcError, match="there is no buffer 'b'") as refused:
                await call
            assert refused.value.code() is Status.NOT_FOUND
        assert "_buffers" not in vars(service), "torch is imported by the first Open alone"
