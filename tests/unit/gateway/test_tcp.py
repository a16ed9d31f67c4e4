"""Games over TCP: our frames and Bray's."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator

import pytest

from tests.unit.gateway.fakes import BrayClient, FrameClient, RawClient, Table, connected, frame, open_gateway
from workers.gateway.limits import GatewayLimits
from workers.gateway.transports.tcp_frames import AUTO, END, HEAD, MAGIC, NEXT, START, TICK, VERSION


@pytest.fixture
async def client(table: Table) -> AsyncIterator[FrameClient]:
    async with connected(FrameClient, table.gateway.ports["tcp"]) as opened:
        yield opened


@pytest.fixture
async def bray(table: Table) -> AsyncIterator[BrayClient]:
    async with connected(BrayClient, table.gateway.ports["tcp"]) as opened:
        yield opened


def test_a_frame_is_what_the_guide_says() -> None:
    assert (
        frame(TICK, "g1", b"ab", tag=258, ticket="t")
        == b"L\x01\x02\x02\x00\x00\x01\x02\x00\x00\x00\x02\x01\x00\x00\x00g1tab"
    )


async def test_a_game_is_played_from_start_to_end(table: Table, client: FrameClient) -> None:
    assert await client.step(START, "g1", b"hello", ticket="t7") == (200, b"HELLO")
    assert table.director.casts == [("g1", "t7")]
    for body in (b"", b"a", b"b" * 200_000, b"c"):
        assert await client.step(TICK, "g1", body) == (200, body.upper())
    assert await client.step(END, "g1") == (200, b"")
    assert [result.ticks for result in table.director.results] == [4]
    assert table.gateway.front.budget.used == 0


async def test_frames_may_arrive_in_pieces_and_together(client: FrameClient) -> None:
    for byte in frame(START, "g", b"abc", tag=1):
        client.send(bytes([byte]))
        await asyncio.sleep(0)
    assert await client.answer() == (200, 1, b"ABC")
    client.send(b"".join(frame(TICK, "g", b"%03d" % n, tag=n) for n in range(3_000)))
    for n in range(3_000):
        assert await client.answer() == (200, n, b"%03d" % n)


async def test_sessions_of_one_connection_do_not_wait_for_each_other(table: Table, client: FrameClient) -> None:
    await client.step(START, "g")
    await client.step(START, "h")
    client.send(
        frame(TICK, "g", b"wait", tag=90) + frame(TICK, "g", b"behind", tag=91) + frame(TICK, "h", b"x", tag=92)
    )
    assert await client.answer() == (200, 92, b"X")
    table.release(b"late")
    assert await client.answer() == (200, 90, b"late")
    assert await client.answer() == (200, 91, b"BEHIND")


async def test_a_step_that_was_alone_gets_company(table: Table, client: FrameClient) -> None:
    for name in ("g", "h"):
        await client.step(START, name)
    for _ in range(3):
        client.send(frame(TICK, "g", b"wait", tag=1))
        while not table.waiting:
            await asyncio.sleep(0.001)
        client.send(frame(TICK, "g", b"behind", tag=2))
        client.send(frame(TICK, "h", b"x", tag=3))
        assert await client.answer() == (200, 3, b"X")
        table.release(b"late")
        assert await client.answer() == (200, 1, b"late")
        assert await client.answer() == (200, 2, b"BEHIND")
        assert await client.step(TICK, "g", b"alone") == (200, b"ALONE")


async def test_refusals_carry_their_id_and_leave_the_connection_open(client: FrameClient) -> None:
    for data, status in [
        (frame(TICK, "g", tag=5), 404),
        (frame(TICK, "", tag=5), 400),
        (frame(9, "g", tag=5), 400),
        (frame(NEXT, body=b"-1", tag=5), 400),
        (frame(START, "g\n", tag=5), 400),
    ]:
        client.send(data)
        answer, tag, words = await client.answer()
        assert (answer, tag) == (status, 5) and words
    assert await client.step(AUTO, body=b"still here") == (200, b"STILL HERE")


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (frame(START, "g") + b"M" + b"\0" * 20, 400),
        (HEAD.pack(MAGIC, VERSION, TICK, 1, 0, 1 << 20, 0, 0, 0, 0) + b"g" + b"x" * (1 << 20), 404),
        (HEAD.pack(MAGIC, VERSION, TICK, 1, 0, (1 << 20) + 1, 0, 0, 0, 0), 413),
        (HEAD.pack(MAGIC, 2, TICK, 1, 0, 0, 0, 0, 0, 0), 400),
        (HEAD.pack(MAGIC, VERSION, TICK, 1, 0, 0, 0, 0, 1, 0), 400),
    ],
)
async def test_frames_that_cannot_be_read(table: Table, client: FrameClient, data: bytes, status: int) -> None:
    client.send(data)
    client.writer.write_eof()
    answers = [await client.answer()]
    if data.startswith(frame(START, "g")):
        answers.append(await client.answer())
    assert answers[-1][0] == status
    assert await client.rest() == b""
    assert table.gateway.front.budget.used == 0


async def test_other_bytes_are_refused(table: Table) -> None:
    port = table.gateway.ports["tcp"]
    async with connected(RawClient, port) as other:
        other.send(b"POST /step HTTP/1.1\r\n\r\n")
        assert b"HTTP has a port of its own" in await other.rest()
    async with connected(RawClient, port) as other:
        other.send(b"\xff\xfe nonsense")
        assert await other.rest() == b""
    assert table.gateway.metrics.refused[400] == 2


async def test_too_many_steps_under_way_are_not_read() -> None:
    async with (
        open_gateway(GatewayLimits(under_way=10)) as table,
        connected(FrameClient, table.gateway.ports["tcp"]) as client,
    ):
        for n in range(30):
            await client.step(START, f"g{n}")
        client.send(b"".join(frame(TICK, f"g{n}", b"wait", tag=n) for n in range(30)))
        for round_number in range(3):
            while len(table.waiting) < 10:
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.02)
            assert len(table.waiting) == 10
            table.release()
            tags = [(await client.answer())[1] for _ in range(10)]
            assert tags == list(range(10 * round_number, 10 * round_number + 10))


async def test_a_slow_frame_is_cut_off(table: Table, client: FrameClient) -> None:
    client.send(frame(START, "g", b"abc", tag=3)[:-1])
    await asyncio.sleep(0.02)
    table.pass_time(31)
    assert (await client.answer())[0] == 408
    assert await client.rest() == b""


async def test_what_to_play_next(table: Table, client: FrameClient) -> None:
    asked = asyncio.create_task(client.step(NEXT, body=b"5"))
    while not table.games.asked:
        await asyncio.sleep(0.001)
    table.games.asked.pop()[1]({"ticket": "t1"})
    status, body = await asked
    assert (status, json.loads(body)) == (200, {"ticket": "t1"})


@pytest.mark.parametrize("time", [0, 8, 1_700_000_000])
async def test_brays_clients_play_unchanged(table: Table, bray: BrayClient, time: int) -> None:
    """One client sends 8, another 0, as the time; none sends bytes for it."""
    assert await bray.step("start", "session_1", b"start game", time) == b"START GAME"
    for _ in range(3):
        assert await bray.step("tick", "session_1", b"fake game state", time) == b"FAKE GAME STATE"
    assert await bray.step("stop", "session_1", b"stop game", time) == b"STOP GAME"
    assert [result.ticks for result in table.director.results] == [3]


async def test_brays_ticks_that_are_sent_ahead_wait_for_each_other(table: Table, bray: BrayClient) -> None:
    await bray.step("start", "g", b"")
    bray.send(bray.frame("tick", "g", b"wait") + bray.frame("tick", "g", b"second"))
    while not table.waiting:
        await asyncio.sleep(0.001)
    table.release(b"first")
    assert await bray.answer("g") == b"first"
    assert await bray.answer("g") == b"SECOND"


async def test_agents_of_one_game_by_brays_names(table: Table, bray: BrayClient) -> None:
    assert await bray.step("start", "g-agent-red", b"") == b""
    assert await bray.step("start", "g-agent-blue", b"") == b""
    assert await bray.step("tick", "g-agent-blue", b"b") == b"B"
    assert table.director.casts == [("g", "")]
    await bray.step("stop", "g-agent-red", b"")
    assert table.director.results == []
    await bray.step("stop", "g-agent-blue", b"")
    assert len(table.director.results) == 1


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">6q", 1, 4, 0, 0, 3, 8) + b"gtickabc",
        struct.pack(">6q", 0, 4, 0, 0, 0, 8) + b"tick",
        struct.pack(">6q", 1, 4, 0, 0, 1 << 40, 8) + b"gtick",
        struct.pack(">6q", 1, 4, -1, 0, 0, 8) + b"gtick",
        struct.pack(">6q", 1, 4, 0, 0, 0, 8) + b"gtock",
    ],
)
async def test_brays_refusal_is_a_closed_connection(table: Table, bray: BrayClient, data: bytes) -> None:
    bray.send(data)
    assert await bray.rest() == b""
    assert sum(table.gateway.metrics.refused.values()) == 1
