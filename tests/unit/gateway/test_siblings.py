"""Several processes behind one port: sessions are found wherever their steps arrive."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.unit.gateway.fakes import HttpClient, Table, connected, open_gateway
from workers.gateway.process import join_siblings

COUNT = 3


@pytest.fixture
async def tables(tmp_path: Path) -> AsyncIterator[list[Table]]:
    """Three gateways that find each other as processes of one do; each has a port of its own here."""
    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(open_gateway(processes=COUNT)) for _ in range(COUNT)]
        for index, table in enumerate(opened):
            table.gateway.index = index
            await join_siblings(table.gateway, index, tmp_path)
        await all_linked(opened)
        yield opened


async def all_linked(tables: list[Table]) -> None:
    async with asyncio.timeout(10):
        while not all(link.is_up for table in tables for link in table.gateway.front.handler._links.values()):  # type: ignore[attr-defined]
            await asyncio.sleep(0.005)


async def step_at(table: Table, kind: str, session: str, body: bytes = b"") -> tuple[int, bytes]:
    async with connected(HttpClient, table.gateway.ports["http"]) as client:
        return await client.step(kind, session, body)


async def test_steps_of_a_session_are_answered_by_every_process(tables: list[Table]) -> None:
    for n in range(12):
        assert await step_at(tables[n % 3], "start", f"g{n}") == (200, b"")
    assert [len(table.sessions) for table in tables] == [4, 4, 4], "a start stays where it arrives"
    for n in range(12):
        for table in tables:
            assert await step_at(table, "tick", f"g{n}", b"x%d" % n) == (200, b"X%d" % n)
    for n in range(12):
        assert await step_at(tables[(n + 1) % 3], "end", f"g{n}") == (200, b"")
        assert (await step_at(tables[(n + 2) % 3], "tick", f"g{n}"))[0] in (404, 410)
        assert await step_at(tables[(n + 2) % 3], "start", f"g{n}") == (200, b"")
    assert sum(len(table.director.results) for table in tables) == 12


async def test_a_session_starts_once_and_agents_meet_in_it(tables: list[Table]) -> None:
    assert await step_at(tables[0], "start", "g-agent-a") == (200, b"")
    assert await step_at(tables[1], "start", "g-agent-b") == (200, b"")
    assert (await step_at(tables[2], "start", "g-agent-a"))[0] == 409
    assert [len(table.director.casts) for table in tables] == [1, 0, 0]
    assert (await step_at(tables[2], "tick", "unknown"))[0] == 404


async def test_simultaneous_starts_of_one_name_have_one_winner(tables: list[Table]) -> None:
    for n in range(20):
        answers = await asyncio.gather(*(step_at(table, "start", f"g{n}") for table in tables))
        assert sorted(status for status, _ in answers) == [200, 409, 409]
    assert sum(len(table.director.casts) for table in tables) == 20


async def test_the_name_of_a_refused_start_is_free(tables: list[Table]) -> None:
    from workers.gateway.contract import Refused

    for n in range(6):
        tables[0].director.refusal = Refused(503, "nothing to play", 1.0)
        assert (await step_at(tables[0], "start", f"g{n}"))[0] == 503
        assert await step_at(tables[1], "start", f"g{n}") == (200, b"")
        tables[0].director.refusal = None
        assert (await step_at(tables[0], "start", f"g{n}"))[0] == 409


async def test_what_a_process_had_is_gone_with_it(tables: list[Table], tmp_path: Path) -> None:
    for n in range(6):
        await step_at(tables[2], "start", f"lost{n}")
        await step_at(tables[1], "start", f"kept{n}")
        assert await step_at(tables[0], "tick", f"lost{n}", b"a") == (200, b"A")
    await tables[2].gateway.stop()
    await asyncio.sleep(0.05)
    for n in range(6):
        assert (await step_at(tables[0], "tick", f"lost{n}"))[0] in (404, 410, 503)
        assert (await step_at(tables[0], "tick", f"kept{n}"))[0] in (200, 503), "503 while its registrar is away"
    async with open_gateway(processes=COUNT) as restarted:
        await join_siblings(restarted.gateway, 2, tmp_path)
        await all_linked([tables[0], tables[1], restarted])
        await asyncio.sleep(0.05)
        for n in range(6):
            assert await step_at(tables[0], "tick", f"kept{n}", b"a") == (200, b"A")
            assert await step_at(restarted, "tick", f"kept{n}", b"a") == (200, b"A")
            assert (await step_at(restarted, "start", f"kept{n}"))[0] == 409
            assert (await step_at(tables[0], "tick", f"lost{n}"))[0] == 404
            assert await step_at(tables[0], "start", f"lost{n}") == (200, b"")


async def test_a_ticket_leads_to_the_process_that_handed_it_out(tables: list[Table]) -> None:
    async with connected(HttpClient, tables[0].gateway.ports["http"]) as client:
        asked = asyncio.create_task(client.get("/next"))
        while not tables[0].games.asked:
            await asyncio.sleep(0.001)
        tables[0].games.asked.pop()[1]({"ticket": "t1", "game": "snake"})
        game = json.loads((await asked)[1])
    assert game == {"ticket": "0~t1", "game": "snake"}
    async with connected(HttpClient, tables[2].gateway.ports["http"]) as client:
        assert (await client.step("start", "g", ticket=game["ticket"]))[0] == 200
        assert (await client.step("tick", "g"))[0] == 200
        assert (await client.step("start", "g", ticket=game["ticket"]))[0] == 409
        assert (await client.step("start", "h", ticket="mine"))[0] == 200
    assert (await step_at(tables[1], "start", "g"))[0] == 409
    assert [table.director.casts for table in tables] == [[("g", "t1")], [], [("h", "mine")]]


async def test_metrics_of_all_processes(tables: list[Table]) -> None:
    await step_at(tables[1], "start", "g")
    async with connected(HttpClient, tables[0].gateway.ports["http"]) as client:
        _, text = await client.get("/metrics")
    for index, sessions in enumerate((0, 1, 0)):
        assert f'lanista_gateway_sessions{{process="{index}"}} {sessions}' in text.decode()
