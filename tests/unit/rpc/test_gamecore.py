"""Games over gRPC: unary calls, streams, refusals, limits, callers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.unit.gateway.test_access import certificate
from tests.unit.rpc.serving import EchoTable, connected, make_front, serving
from workers.gateway.auth import Access
from workers.gateway.options import GatewayOptions
from workers.gateway.rpc.gamecore import GamecoreService
from workers.gateway.rpc.generated import gamecore_pb2 as pb
from workers.gateway.rpc.generated.gamecore_pb2_grpc import GamecoreStub
from workers.gateway.rpc.replay import ReplayService
from workers.gateway.rpc.server import RpcOptions, RpcServer
from workers.gateway.server import Gateway

Status = grpc.StatusCode


def step(id: int, kind: str, session: str = "g", body: bytes = b"", **more: Any) -> pb.Step:
    return pb.Step(id=id, kind=pb.StepKind.Value(f"STEP_KIND_{kind}"), session=session, body=body, **more)


async def replies_of(call: Any, count: int) -> dict[int, pb.StreamedReply]:
    found: dict[int, pb.StreamedReply] = {}
    while len(found) < count:
        message = await call.read()
        assert message is not grpc.aio.EOF, f"{len(found)} of {count} replies, and then the end"
        found |= {reply.id: reply for reply in message.replies}
    return found


async def test_a_session_by_unary_calls() -> None:
    table = EchoTable()
    async with connected(GamecoreService(make_front(table))) as channel:
        stub = GamecoreStub(channel)
        assert (await stub.Start(pb.StartRequest(session="g", ticket="t", body=b"a"))).body == b"start:a"
        assert (await stub.Tick(pb.TickRequest(session="g-agent-red", body=b"b"))).body == b"tick:b"
        assert (await stub.Tick(pb.TickRequest(session="g", agent="blue"))).body == b"tick:"
        assert (await stub.Tick(pb.TickRequest(auto=True, body=b"c"))).body == b"auto:c"
        assert (await stub.End(pb.EndRequest(session="g", body=b"d"))).body == b"end:d"
    assert [(each.session, each.agent, each.ticket) for each in table.steps] == [
        ("g", "", "t"),
        ("g", "red", ""),
        ("g", "blue", ""),
        ("", "", ""),
        ("g", "", ""),
    ]


@pytest.mark.parametrize(
    ("request_", "code", "words"),
    [
        (pb.TickRequest(session="none"), Status.NOT_FOUND, "There is no session 'none'"),
        (pb.TickRequest(session=""), Status.INVALID_ARGUMENT, "no name"),
        (pb.TickRequest(session="x" * 300), Status.INVALID_ARGUMENT, "at most 255"),
        (pb.TickRequest(session="a\nb"), Status.INVALID_ARGUMENT, "cannot be printed"),
        (pb.TickRequest(session="g-agent-x", agent="y"), Status.INVALID_ARGUMENT, "names the agent 'x'"),
        (pb.TickRequest(session="g", agent="y" * 300), Status.INVALID_ARGUMENT, "agent's name"),
        (pb.TickRequest(session="g", body=b"x" * 101), Status.RESOURCE_EXHAUSTED, "101 bytes; at most 100"),
        (pb.StartRequest(session="g"), Status.FAILED_PRECONDITION, "started already"),
        (pb.NextRequest(), Status.FAILED_PRECONDITION, "hands out no games"),
    ],
)
async def test_a_refusal_has_its_status_and_words(request_: Any, code: grpc.StatusCode, words: str) -> None:
    async with connected(GamecoreService(make_front(EchoTable(), body_bytes=100))) as channel:
        stub = GamecoreStub(channel)
        await stub.Start(pb.StartRequest(session="g"))
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await getattr(stub, type(request_).__name__.removesuffix("Request"))(request_)
    assert error.value.code() is code
    assert words in (error.value.details() or "")


async def test_try_again_says_when() -> None:
    async with connected(GamecoreService(make_front(EchoTable()))) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await GamecoreStub(channel).Start(pb.StartRequest(session="g", body=b"later"))
    assert error.value.code() is Status.UNAVAILABLE
    assert dict(error.value.trailing_metadata())["retry-after"] == "2.5"


async def test_sessions_share_a_stream_and_a_refused_step_harms_no_other() -> None:
    async with connected(GamecoreService(make_front(EchoTable()))) as channel:
        call = GamecoreStub(channel).Play()
        await call.write(pb.Steps(steps=[step(1, "START", "a"), step(2, "START", "b"), step(3, "TICK", "lost")]))
        await call.write(pb.Steps(steps=[step(4, "TICK", "a", b"x"), step(5, "UNSPECIFIED", "a"), step(6, "AUTO")]))
        await call.write(pb.Steps(steps=[step(7, "END", "b"), step(8, "START", "c", b"later")]))
        found = await replies_of(call, 8)
        await call.done_writing()
        assert await call.read() is grpc.aio.EOF
    assert {id: reply.body for id, reply in found.items() if not reply.HasField("refusal")} == {
        1: b"start:",
        2: b"start:",
        4: b"tick:x",
        6: b"auto:",
        7: b"end:",
    }
    assert (found[3].refusal.code, found[3].refusal.text) == (5, "There is no session 'lost'.")
    assert found[5].refusal.code == 3 and "allowed: STEP_KIND_START, STEP_KIND_TICK" in found[5].refusal.text
    assert (found[8].refusal.code, found[8].refusal.retry_after) == (14, 2.5)


async def test_a_slow_agent_holds_up_only_its_own_session() -> None:
    table = EchoTable()
    async with connected(GamecoreService(make_front(table))) as channel:
        call = GamecoreStub(channel).Play()
        await call.write(pb.Steps(steps=[step(1, "START", "a"), step(2, "START", "b"), step(3, "TICK", "a", b"hold")]))
        assert set(await replies_of(call, 2)) == {1, 2}
        await call.write(pb.Steps(steps=[step(4, "TICK", "b")]))
        assert set(await replies_of(call, 1)) == {4}
        await call.done_writing()
        table.held.pop()(b"at last")
        assert (await replies_of(call, 1))[3].body == b"at last"
        assert await call.read() is grpc.aio.EOF


async def test_a_stream_is_not_read_while_its_replies_pile_up() -> None:
    table = EchoTable()
    async with connected(GamecoreService(make_front(table, under_way=8))) as channel:
        call = GamecoreStub(channel).Play()
        await call.write(pb.Steps(steps=[step(0, "START")]))
        await replies_of(call, 1)
        for id in range(1, 31):
            await call.write(pb.Steps(steps=[step(id, "TICK", "g", b"hold")]))
        await asyncio.sleep(0.2)
        assert len(table.held) == 8
        answered = 0
        while answered < 30:
            for reply in table.held[answered:]:
                reply(b"x")
                answered += 1
            await asyncio.sleep(0.01)
        assert len(await replies_of(call, 30)) == 30


async def test_too_many_steps_in_a_message_end_the_stream_with_words() -> None:
    async with connected(GamecoreService(make_front(EchoTable()))) as channel:
        call = GamecoreStub(channel).Play()
        await call.write(pb.Steps(steps=[pb.Step()] * 1025))
        with pytest.raises(grpc.aio.AioRpcError, match="1025 steps; at most 1024") as error:
            await call.read()
    assert error.value.code() is Status.INVALID_ARGUMENT


async def test_a_message_above_the_limit_is_refused() -> None:
    service = GamecoreService(make_front(EchoTable()))
    async with connected(service, options=RpcOptions(largest_message=1000)) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await GamecoreStub(channel).Tick(pb.TickRequest(session="g", body=b"x" * 1001))
    assert error.value.code() is Status.RESOURCE_EXHAUSTED


async def test_a_caller_needs_the_token() -> None:
    access = Access(["secret"])
    async with connected(GamecoreService(make_front(EchoTable())), access=access) as channel:
        stub = GamecoreStub(channel)
        for metadata in ([], [("authorization", "Bearer wrong")], [("token", "wrong")]):
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await stub.Start(pb.StartRequest(session="g"), metadata=metadata)
            assert error.value.code() is Status.UNAUTHENTICATED
            call = stub.Play(metadata=metadata)
            assert await call.code() is Status.UNAUTHENTICATED
        for number, metadata in enumerate([[("authorization", "Bearer secret")], [("token", "secret")]]):
            await stub.Start(pb.StartRequest(session=f"g{number}"), metadata=metadata)


async def test_a_caller_without_the_token_is_refused_before_its_message_is_read() -> None:
    service, options = GamecoreService(make_front(EchoTable())), RpcOptions(largest_message=1000)
    async with connected(service, access=Access(["secret"]), options=options) as channel:
        with pytest.raises(grpc.aio.AioRpcError, match="send the gateway's token") as error:
            await GamecoreStub(channel).Start(pb.StartRequest(session="g", body=b"x" * 100_000))
    assert error.value.code() is Status.UNAUTHENTICATED


async def test_large_bodies_are_counted_until_their_reply() -> None:
    table = EchoTable()
    front = make_front(table, buffered_bytes=50_000)
    hold = b"x" * 30_000
    table.held_body = hold
    async with connected(GamecoreService(front)) as channel:
        call = GamecoreStub(channel).Play()
        await call.write(pb.Steps(steps=[step(1, "START", "a"), step(2, "START", "b"), step(3, "TICK", "a", hold)]))
        assert set(await replies_of(call, 2)) == {1, 2}
        assert front.budget.used == 30_000
        await call.write(pb.Steps(steps=[step(4, "TICK", "b", hold), step(5, "TICK", "b", b"small")]))
        found = await replies_of(call, 2)
        assert (found[4].refusal.code, found[4].refusal.retry_after) == (14, 1.0)
        assert "as many large bodies as it may" in found[4].refusal.text and found[5].body == b"tick:small"
        table.held.pop()(b"at last")
        assert (await replies_of(call, 1))[3].body == b"at last"
    assert front.budget.used == 0


async def test_a_message_of_games_is_smaller_than_one_of_weights() -> None:
    service = GamecoreService(make_front(EchoTable()))
    other = ReplayService(1_000_000, 1_000_000)
    async with connected(service, other) as channel:
        for many in (
            GamecoreStub(channel).Tick(pb.TickRequest(session="g", body=b"x" * (5 << 20))),
            GamecoreStub(channel).Play(iter([pb.Steps(steps=[step(1, "START", body=b"x" * (1 << 20))] * 5)])),
        ):
            with pytest.raises(grpc.aio.AioRpcError, match="message has at most 4194304") as error:
                await (many if hasattr(many, "__await__") else many.read())
            assert error.value.code() is Status.RESOURCE_EXHAUSTED


async def test_a_trusted_network_needs_none() -> None:
    from workers.gateway.auth import parse_networks

    access = Access(["secret"], parse_networks("127.0.0.0/8"))
    async with connected(GamecoreService(make_front(EchoTable())), access=access) as channel:
        await GamecoreStub(channel).Start(pb.StartRequest(session="g"))


class Games:
    """Hands out one game, and then waits."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []
        self.withdrawn = 0

    def next_game(self, seconds: float, answer: Any, name: str = "") -> Any:
        if not seconds:
            answer(None)
        elif seconds == 1.0:
            answer({"ticket": "t1", "game": name})
        else:
            self.waiting.append(answer)
        return self._withdraw

    def _withdraw(self) -> None:
        self.withdrawn += 1


async def test_what_to_play_next() -> None:
    front = make_front(EchoTable())
    games = front.games = Games()
    async with connected(GamecoreService(front)) as channel:
        stub = GamecoreStub(channel)
        assert (await stub.Next(pb.NextRequest())).ticket == ""
        found = await stub.Next(pb.NextRequest(seconds=1.0, game="chess"))
        assert (found.ticket, found.game) == ("t1", '{"ticket": "t1", "game": "chess"}')
        call = stub.Next(pb.NextRequest(seconds=30.0))
        while not games.waiting:
            await asyncio.sleep(0.01)
        call.cancel()
        while not games.withdrawn:
            await asyncio.sleep(0.01)
        with pytest.raises(grpc.aio.AioRpcError, match="0 to 60"):
            await stub.Next(pb.NextRequest(seconds=61.0))


async def test_a_gateway_serves_games_over_grpc() -> None:
    options = GatewayOptions(http_port=None, grpc_port=0, tokens=("a token of the gateway",))
    async with Gateway(options, EchoTable()) as gateway:
        await gateway.listen()
        async with grpc.aio.insecure_channel(f"127.0.0.1:{gateway.ports['grpc']}") as channel:
            with pytest.raises(grpc.aio.AioRpcError, match="send the gateway's token"):
                await GamecoreStub(channel).Start(pb.StartRequest(session="g"))
            metadata = [("authorization", "Bearer a token of the gateway")]
            reply = await GamecoreStub(channel).Start(pb.StartRequest(session="g", body=b"x"), metadata=metadata)
            assert reply.body == b"start:x"
        assert gateway.metrics.requests["grpc"] == 1


async def test_a_port_that_is_taken_is_named() -> None:
    service = GamecoreService(make_front(EchoTable()))
    async with serving(service) as address:
        with pytest.raises(OSError, match=f"gRPC cannot listen at {address}"):
            RpcServer(RpcOptions(address=address), [service], Access())


async def test_tls_by_certificate_files(tmp_path: Path) -> None:
    public, key = certificate(tmp_path)
    options = RpcOptions(certificate=public, key=key)
    async with serving(GamecoreService(make_front(EchoTable())), options=options) as address:
        trusted = grpc.ssl_channel_credentials(public.read_bytes())
        async with grpc.aio.secure_channel(address, trusted) as channel:
            assert (await GamecoreStub(channel).Start(pb.StartRequest(session="g"))).body == b"start:"
        async with grpc.aio.insecure_channel(address) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await GamecoreStub(channel).Start(pb.StartRequest(session="h"))
    assert error.value.code() is Status.UNAVAILABLE
