"""Malformed calls over gRPC: each gets a status, the server stays, memory does not grow."""

from __future__ import annotations

import asyncio
import random
import socket
from typing import Any

import grpc
import psutil

from tests.unit.rpc.serving import EchoTable, FakeRegistry, boards, make_front, serving
from workers.gateway.rpc.arrays import encode_batch
from workers.gateway.rpc.gamecore import GamecoreService
from workers.gateway.rpc.generated import gamecore_pb2, parameters_pb2, policy_pb2, replay_pb2
from workers.gateway.rpc.generated.gamecore_pb2_grpc import GamecoreStub
from workers.gateway.rpc.parameters import ParametersService
from workers.gateway.rpc.policies import Policies
from workers.gateway.rpc.policy import PolicyService
from workers.gateway.rpc.replay import ReplayService

CALLS = 1500
"""`benchmarks.gateway` sends more."""
EXPECTED = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNAVAILABLE,
}


def seeds() -> dict[str, list[bytes]]:
    """Good requests by method, from which bad ones are made."""
    board = encode_batch(boards(2))
    messages: dict[str, list[Any]] = {
        "Gamecore/Start": [gamecore_pb2.StartRequest(session="g", body=b"x" * 50)],
        "Gamecore/Tick": [gamecore_pb2.TickRequest(session="g", agent="a"), gamecore_pb2.TickRequest(auto=True)],
        "Gamecore/End": [gamecore_pb2.EndRequest(session="g")],
        "Policy/Act": [policy_pb2.ActRequest(model="champion", rows=board)],
        "Policy/Describe": [policy_pb2.DescribeRequest(model="champion")],
        "Parameters/Get": [parameters_pb2.GetRequest(model="champion", form=parameters_pb2.FORM_ARRAYS)],
        "Parameters/Publish": [parameters_pb2.PublishRequest(trial="t", name="n", arrays=board)],
        "Replay/Open": [replay_pb2.OpenRequest(buffer="b", capacity=50, priorities=replay_pb2.Priorities(alpha=0.5))],
        "Replay/Push": [replay_pb2.PushRequest(buffer="b", columns=board)],
        "Replay/Sample": [replay_pb2.SampleRequest(buffer="b", rows=3)],
        "Replay/Feedback": [replay_pb2.FeedbackRequest(buffer="b")],
        "Replay/Close": [replay_pb2.CloseRequest(buffer="b")],
    }
    return {method: [each.SerializeToString() for each in found] for method, found in messages.items()}


def spoiled(good: bytes, rng: random.Random) -> bytes:
    """Random bytes, or a good message cut off, with bytes changed, or repeated."""
    match rng.randrange(4):
        case 0:
            return rng.randbytes(rng.randrange(200))
        case 1:
            return good[: rng.randrange(len(good) + 1)]
        case 2:
            data = bytearray(good)
            for _ in range(rng.randrange(1, 6)):
                if data:
                    data[rng.randrange(len(data))] = rng.randrange(256)
            return bytes(data)
        case _:
            return good * rng.randrange(2, 5) + rng.randbytes(3)


async def status_of(call: Any) -> grpc.StatusCode:
    try:
        await call
    except grpc.aio.AioRpcError as error:
        assert error.code() is grpc.StatusCode.OK or error.details(), "a refusal has words"
        return error.code()
    return grpc.StatusCode.OK


async def test_malformed_calls_get_a_status_and_harm_nobody() -> None:
    rng, messages = random.Random(1), seeds()
    registry = FakeRegistry()
    services = (
        GamecoreService(make_front(EchoTable())),
        PolicyService(Policies(registry)),
        ParametersService(registry),
        ReplayService(1_000_000, 100_000),
    )
    async with serving(*services) as address, grpc.aio.insecure_channel(address) as channel:
        methods = {name: channel.unary_unary(f"/lanista.v1.{name}") for name in messages}
        stream = GamecoreStub(channel).Play()
        await stream.write(gamecore_pb2.Steps(steps=[gamecore_pb2.Step(kind=1, session="calm")]))
        await stream.read()

        async def send(count: int) -> set[grpc.StatusCode]:
            found: set[grpc.StatusCode] = set()
            for _ in range(count // 50):
                chosen = [rng.choice(list(messages)) for _ in range(50)]
                calls = [methods[name](spoiled(rng.choice(messages[name]), rng)) for name in chosen]
                found |= set(await asyncio.gather(*(status_of(call) for call in calls)))
            return found

        assert await send(CALLS // 2) <= EXPECTED
        before = psutil.Process().memory_info().rss
        assert await send(CALLS // 2) <= EXPECTED
        assert psutil.Process().memory_info().rss - before < 40_000_000
        await bad_streams(channel, rng)
        bad_connections(address, rng)
        await stream.write(gamecore_pb2.Steps(steps=[gamecore_pb2.Step(id=2, kind=2, session="calm", body=b"!")]))
        assert (await stream.read()).replies[0].body == b"tick:!"


async def bad_streams(channel: grpc.aio.Channel, rng: random.Random) -> None:
    """Streams of random bytes end with a status, or with refused steps."""
    good = gamecore_pb2.Steps(steps=[gamecore_pb2.Step(kind=2, session="g")]).SerializeToString()
    play = channel.stream_stream("/lanista.v1.Gamecore/Play")
    codes = set()
    for _ in range(60):
        call = play()
        try:
            for _ in range(3):
                await call.write(spoiled(good, rng))
            await call.done_writing()
            while await call.read() is not grpc.aio.EOF:
                pass
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            pass  # it ended at the first bad message
        if await call.details() != "Internal error from Core":  # the client's own words for a write after the end
            codes.add(await call.code())
    assert codes <= {grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT}
    assert grpc.StatusCode.INVALID_ARGUMENT in codes


def bad_connections(address: str, rng: random.Random) -> None:
    """Connections that speak no HTTP/2, or only its beginning."""
    host, _, port = address.partition(":")
    for beginning in (b"", b"GET / HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
        for _ in range(10):
            with socket.create_connection((host, int(port)), timeout=5) as peer:
                peer.sendall(beginning + rng.randbytes(rng.randrange(300)))
