"""Games over HTTP: start, tick, end, and what is refused."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator

import pytest

from tests.unit.gateway.fakes import HttpClient, RawClient, Table, connected, http_step, open_gateway
from workers.gateway.contract import Refused
from workers.gateway.limits import GatewayLimits


@pytest.fixture
async def client(table: Table) -> AsyncIterator[HttpClient]:
    async with connected(HttpClient, table.gateway.ports["http"]) as opened:
        yield opened


async def test_a_game_is_played_from_start_to_end(table: Table, client: HttpClient) -> None:
    assert await client.step("start", "g1", b"hello", ticket="t7") == (200, b"HELLO")
    assert table.director.casts == [("g1", "t7")]
    for n in range(5):
        assert await client.step("tick", "g1", b"n%d" % n) == (200, b"N%d" % n)
    assert await client.step("end", "g1", b"over") == (200, b"OVER")
    assert [(result.session, result.ticks) for result in table.director.results] == [("g1", 5)]
    assert table.director.aborts == [] and len(table.sessions) == 0


@pytest.mark.parametrize("name", ["game_id", "game-id", "Session", "GAME_ID"])
async def test_session_has_several_names(table: Table, client: HttpClient, name: str) -> None:
    client.send(f"POST /step HTTP/1.1\r\n{name}: g\r\nstep-kind: start\r\ncontent-length: 0\r\n\r\n".encode())
    assert await client.answer() == (200, b"")
    assert await client.step("stop", "g") == (200, b"")
    assert len(table.director.results) == 1


async def test_bodies_of_any_length_and_repeated_heads(table: Table, client: HttpClient) -> None:
    await client.step("start", "g")
    for size in [3, 3, 3, 7, 3, 7, 0, 0, 100_000, 3, *range(40), 3, 3]:
        assert await client.step("tick", "g", b"a" * size) == (200, b"A" * size)
    await client.step("start", "h")
    for body in (b"one", b"two"):
        assert await client.step("tick", "g", body) == (200, body.upper())
        assert await client.step("tick", "h", body) == (200, body.upper())
    await client.step("end", "g")
    assert (await client.step("tick", "g", b"one"))[0] == 410
    assert await client.step("tick", "h", b"one") == (200, b"ONE")


async def test_a_request_may_arrive_in_pieces(client: HttpClient) -> None:
    for byte in http_step("start", "g", b"abc"):
        client.send(bytes([byte]))
        await asyncio.sleep(0)
    assert await client.answer() == (200, b"ABC")


async def test_chunked_bodies(client: HttpClient) -> None:
    await client.step("start", "g")
    client.send(b"POST /step HTTP/1.1\r\nsession: g\r\nstep_kind: tick\r\ntransfer-encoding: chunked\r\n\r\n")
    client.send(b"3\r\nabc\r\n2\r\nde\r\n0\r\nsession: h\r\n\r\n")
    assert await client.answer() == (200, b"ABCDE")


async def test_pipelined_requests_are_answered_in_order(table: Table, client: HttpClient) -> None:
    steps = [http_step("start", "g"), *(http_step("tick", "g", b"%03d" % n) for n in range(500)), http_step("end", "g")]
    client.send(b"".join(steps))
    answers = [await client.answer() for _ in steps]
    assert answers == [(200, b""), *((200, b"%03d" % n) for n in range(500)), (200, b"")]


async def test_pipelined_requests_wait_behind_a_slow_one(table: Table, client: HttpClient) -> None:
    await client.step("start", "g")
    client.send(http_step("tick", "g", b"wait") + http_step("tick", "g", b"next") + b"NONSENSE\r\n\r\n")
    while not table.waiting:
        await asyncio.sleep(0.001)
    table.release(b"first")
    assert await client.answer() == (200, b"first")
    assert await client.answer() == (200, b"NEXT")
    assert (await client.answer())[0] == 400
    assert await client.rest() == b""


async def test_expect_continue(client: HttpClient) -> None:
    request = http_step("start", "g", b"abc", expect="100-continue")
    client.send(request[:-3])
    assert await client.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.send(b"abc")
    assert await client.answer() == (200, b"ABC")


async def test_connection_close_and_http_1_0(table: Table) -> None:
    port = table.gateway.ports["http"]
    async with connected(HttpClient, port) as client:
        assert await client.step("start", "g", b"a", connection="close") == (200, b"A")
        assert "connection: close" in client.head
        assert await client.rest() == b""
    async with connected(HttpClient, port) as client:
        client.send(http_step("tick", "g", b"a").replace(b"HTTP/1.1", b"HTTP/1.0"))
        assert await client.answer() == (200, b"A")
        assert await client.rest() == b""


async def test_a_peer_that_ended_its_side_gets_its_reply(table: Table, client: HttpClient) -> None:
    await client.step("start", "g")
    client.send(http_step("tick", "g", b"wait"))
    client.writer.write_eof()
    while not table.waiting:
        await asyncio.sleep(0.001)
    table.release()
    assert await client.answer() == (200, b"RELEASED")
    assert await client.rest() == b""


@pytest.mark.parametrize(
    ("request_bytes", "status", "words"),
    [
        (http_step("tock", "g"), 400, "start, tick, end (stop) or auto"),
        (http_step("", "g"), 400, "step_kind"),
        (http_step("tick"), 400, "no name"),
        (http_step("tick", "x" * 256), 400, "at most 255"),
        (http_step("start", "g", ticket="9" * 5000 + "~t"), 400, "The ticket has 5002 bytes; at most 255"),
        (http_step("start", "-agent-"), 400, "GAME-agent-NAME"),
        (http_step("start", "g", game_id="h"), 400, "twice"),
        (http_step("start", "g").replace(b"session: g", b"session: \xff\xfe"), 400, "UTF-8"),
        (http_step("start", "g", origin="https://example.org"), 403, "browser"),
        (b"GET /next HTTP/1.1\r\nSec-Fetch-Site: same-origin\r\n\r\n", 403, "browser"),
        (b"GET /step HTTP/1.1\r\n\r\n", 405, "POST"),
        (b"POST /health HTTP/1.1\r\ncontent-length: 0\r\n\r\n", 405, "GET"),
        (b"GET /nowhere HTTP/1.1\r\n\r\n", 404, "/step"),
        (b"GET /next?seconds=soon HTTP/1.1\r\n\r\n", 400, "from 0 to 60"),
    ],
)
async def test_refusals_leave_the_connection_open(
    client: HttpClient, request_bytes: bytes, status: int, words: str
) -> None:
    client.send(request_bytes)
    answer, body = await client.answer()
    assert answer == status and words in body.decode()
    if b"twice" not in body:
        assert await client.step("start", "after", b"ok") == (200, b"OK")


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 3, 400),
        (b"POST /step HTTP/1.1\r\ncontent-length: -5\r\n\r\n", 400),
        (b"POST /step HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n", 400),
        (b"POST /step HTTP/1.1\r\ncontent-length: 1048577\r\n\r\n", 413),
        (b"POST /step HTTP/1.1\r\ncontent-length: 99999999999999999999999\r\n\r\n", 400),
        (b"POST /step HTTP/1.1\r\nx: " + b"y" * 20_000 + b"\r\n\r\n", 431),
        (b"POST /" + b"y" * 20_000 + b" HTTP/1.1\r\n\r\n", 431),
        (b"POST /step HTTP/1.1\r\n" + b"a: b\r\n" * 5_000 + b"\r\n", 431),
        (b"GET /health HTTP/1.1\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n", 400),
    ],
)
async def test_what_cannot_be_followed_ends_the_connection(
    table: Table, client: HttpClient, request_bytes: bytes, status: int
) -> None:
    client.send(request_bytes)
    replies = await client.rest()
    assert int(re.findall(rb"HTTP/1.1 (\d+)", replies)[-1]) == status, replies
    assert replies.endswith(b"\n") and b"connection: close" in replies
    assert table.gateway.front.budget.used == 0


async def test_a_header_that_does_not_end_is_refused(client: HttpClient) -> None:
    client.send(b"POST /step HTTP/1.1\r\nx: ")
    for _ in range(50):
        client.send(b"y" * 10_000)
        await asyncio.sleep(0.001)
    assert b"431" in await client.rest()


async def test_a_chunked_body_without_end_is_refused() -> None:
    async with (
        open_gateway(GatewayLimits(body_bytes=100_000)) as table,
        connected(HttpClient, table.gateway.ports["http"]) as client,
    ):
        client.send(b"POST /step HTTP/1.1\r\nsession: g\r\nstep_kind: tick\r\ntransfer-encoding: chunked\r\n\r\n")
        for _ in range(20):
            client.send(b"2710\r\n" + b"z" * 10_000 + b"\r\n")
        assert b"413" in await client.rest()
        assert table.gateway.front.budget.used == 0


async def test_large_bodies_share_a_budget() -> None:
    async with open_gateway(GatewayLimits(buffered_bytes=150_000)) as table:
        port = table.gateway.ports["http"]
        async with connected(HttpClient, port) as first, connected(HttpClient, port) as second:
            await first.step("start", "g")
            first.send(http_step("tick", "g", b"a" * 100_000)[:-1])
            while not table.gateway.front.budget.used:
                await asyncio.sleep(0.001)
            status, words = await second.step("start", "h", b"a" * 100_000)
            assert (status, second.head.count("retry-after: 1")) == (503, 1), words
            first.send(b"a")
            assert await first.answer() == (200, b"A" * 100_000)
            assert table.gateway.front.budget.used == 0


async def test_too_many_connections() -> None:
    async with open_gateway(GatewayLimits(connections=2)) as table:
        port = table.gateway.ports["http"]
        async with connected(HttpClient, port) as first, connected(HttpClient, port) as second:
            assert (await first.get("/health"))[0] == 200
            assert (await second.get("/health"))[0] == 200
            async with connected(HttpClient, port) as third:
                assert b"503" in await third.rest()
            assert (await first.get("/health"))[0] == 200


async def test_slow_peers_are_cut_off(table: Table, client: HttpClient) -> None:
    client.send(http_step("start", "g", b"abc")[:-1])
    await asyncio.sleep(0.02)
    table.pass_time(31)
    status, words = await client.answer()
    assert (status, words) == (408, b"The request did not arrive within 30 s.\n")
    assert await client.rest() == b""


async def test_idle_connections_are_closed(table: Table, client: HttpClient) -> None:
    await client.step("start", "g")
    table.pass_time(601)
    assert await client.rest() == b""


async def test_a_peer_that_reads_no_replies_is_not_read_from(table: Table, client: HttpClient) -> None:
    await client.step("start", "g")
    request = http_step("tick", "g", b"x" * 60_000)
    client.writer.transport.pause_reading()  # type: ignore[attr-defined]
    sent = 0
    for _ in range(400):
        client.send(request)
        sent += 1
        await asyncio.sleep(0)
        if client.writer.transport.get_write_buffer_size() > 4_000_000:  # type: ignore[attr-defined]
            break
    assert sent < 400, "the gateway went on reading"
    handled = table.gateway.metrics.requests["http"]
    assert handled < sent
    client.writer.transport.resume_reading()  # type: ignore[attr-defined]
    for _ in range(sent):
        assert (await client.answer())[0] == 200


async def test_health_metrics_and_unknown_sessions(table: Table, client: HttpClient) -> None:
    await client.step("start", "g")
    assert json.loads((await client.get("/health"))[1]) == {"status": "ok", "sessions": 1}
    assert (await client.step("tick", "nobody"))[0] == 404
    status, text = await client.get("/metrics")
    assert status == 200
    lines = text.decode().splitlines()
    assert 'lanista_gateway_sessions{process="0"} 1' in lines
    assert 'lanista_gateway_refused_total{process="0",status="404"} 1' in lines
    assert 'lanista_gateway_requests_total{process="0",transport="http"} 2' in lines


async def test_what_to_play_next(table: Table, client: HttpClient) -> None:
    asked = asyncio.create_task(client.get("/next?seconds=20&game=snake"))
    while not table.games.asked:
        await asyncio.sleep(0.001)
    seconds, answer = table.games.asked.pop()
    answer({"ticket": "t1"})
    assert (seconds, await asked) == (20.0, (200, b'{"ticket": "t1"}'))
    asked = asyncio.create_task(client.get("/next"))
    while not table.games.asked:
        await asyncio.sleep(0.001)
    table.games.asked.pop()[1](None)
    assert await asked == (204, b"")
    assert table.games.names == ["snake", ""]


async def test_a_question_is_withdrawn_with_its_connection(table: Table) -> None:
    async with connected(HttpClient, table.gateway.ports["http"]) as client:
        client.send(b"GET /next HTTP/1.1\r\n\r\n")
        while not table.games.asked:
            await asyncio.sleep(0.001)
    while not table.games.withdrawn:
        await asyncio.sleep(0.001)
    table.games.asked.pop()[1]({"ticket": "late"})


async def test_a_reply_to_a_lost_connection_harms_nobody(table: Table, client: HttpClient) -> None:
    await client.step("start", "g")
    async with connected(RawClient, table.gateway.ports["http"]) as lost:
        lost.send(http_step("tick", "g", b"wait"))
        while not table.waiting:
            await asyncio.sleep(0.001)
    await asyncio.sleep(0.02)
    table.release()
    assert await client.step("tick", "g", b"on") == (200, b"ON")


async def test_a_director_may_have_nothing_to_play(table: Table, client: HttpClient) -> None:
    table.director.refusal = Refused(503, "No training is under way.", 2.0)
    assert await client.step("start", "g") == (503, b"No training is under way.\n")
    assert "retry-after: 2" in client.head
    assert (await client.step("tick", "g"))[0] == 404
