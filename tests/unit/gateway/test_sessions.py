"""Which steps are allowed, and how sessions end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.unit.gateway.fakes import HttpClient, Table, connected, open_gateway
from workers.gateway.limits import GatewayLimits


@pytest.fixture
async def client(table: Table) -> AsyncIterator[HttpClient]:
    async with connected(HttpClient, table.gateway.ports["http"]) as opened:
        yield opened


async def play(client: HttpClient, *steps: tuple[str, str]) -> list[int]:
    return [(await client.step(kind, session))[0] for kind, session in steps]


async def test_steps_out_of_order_are_refused_and_harm_nobody(table: Table, client: HttpClient) -> None:
    assert await play(client, ("tick", "g"), ("end", "g"), ("start", "g"), ("start", "g")) == [404, 404, 200, 409]
    assert await play(client, ("tick", "g-agent-b"), ("tick", "g"), ("end", "g")) == [409, 200, 200]
    assert await play(client, ("tick", "g"), ("end", "g"), ("start", "g"), ("tick", "g")) == [410, 410, 200, 200]
    assert (await client.step("tick", "g-agent-b"))[
        1
    ] == b"Agent 'b' of session 'g' has not started: send `start` first.\n"


async def test_a_second_step_of_a_busy_agent_is_refused(table: Table, client: HttpClient) -> None:
    await client.step("start", "g")
    async with connected(HttpClient, table.gateway.ports["http"]) as other:
        slow = asyncio.create_task(other.step("tick", "g", b"wait"))
        while not table.waiting:
            await asyncio.sleep(0.001)
        status, words = await client.step("tick", "g", b"too early")
        assert (status, b"still busy with a tick" in words) == (409, True)
        table.release()
        assert await slow == (200, b"RELEASED")
    assert await client.step("tick", "g", b"now") == (200, b"NOW")


async def test_agents_of_one_session_share_it(table: Table, client: HttpClient) -> None:
    assert await play(client, ("start", "g-agent-a"), ("start", "g-agent-b"), ("end", "g-agent-a")) == [200] * 3
    assert await play(client, ("tick", "g-agent-a"), ("start", "g-agent-a"), ("tick", "g-agent-b")) == [409, 409, 200]
    assert (len(table.sessions), table.director.casts) == (1, [("g", "")])
    assert await play(client, ("end", "g-agent-b")) == [200]
    assert (len(table.sessions), len(table.director.results)) == (0, 1)


async def test_silent_sessions_are_aborted_once(table: Table, client: HttpClient) -> None:
    await play(client, ("start", "quiet"), ("start", "busy"))
    table.pass_time(40)
    await client.step("tick", "busy")
    table.pass_time(40)
    assert table.director.aborts == [("quiet", "no request came for 60 s")]
    table.pass_time(5)
    assert len(table.director.aborts) == 1 and table.director.results == []
    status, words = await client.step("tick", "quiet")
    assert (status, words) == (410, b"Session 'quiet' is closed: it was aborted: no request came for 60 s.\n")
    assert await play(client, ("tick", "busy"), ("start", "quiet")) == [200, 200]
    assert table.gateway.metrics.aborted == {"silent": 1}


async def test_the_time_of_an_agent_is_no_silence_of_the_game(table: Table, client: HttpClient) -> None:
    await client.step("start", "g")
    slow = asyncio.create_task(client.step("tick", "g", b"wait"))
    while not table.waiting:
        await asyncio.sleep(0.001)
    table.pass_time(40)
    table.release()
    assert (await slow)[0] == 200
    table.pass_time(40)
    assert table.director.aborts == []
    assert (await client.step("tick", "g"))[0] == 200


async def test_an_agent_that_does_not_answer_is_given_up(table: Table, client: HttpClient) -> None:
    await client.step("start", "g")
    slow = asyncio.create_task(client.step("tick", "g", b"wait"))
    while not table.waiting:
        await asyncio.sleep(0.001)
    table.pass_time(61)
    assert (await slow)[0] == 504
    assert table.director.aborts == [("g", "an agent did not answer within 60 s")]
    table.release()  # what it says now goes nowhere
    assert await client.step("start", "g", b"new") == (200, b"NEW")


async def test_an_agent_that_fails_ends_its_session_only(table: Table, client: HttpClient) -> None:
    await play(client, ("start", "g"), ("start", "h"))
    assert (await client.step("tick", "g", b"fail"))[0] == 500
    assert (await client.step("tick", "g"))[0] == 410
    assert await client.step("tick", "h", b"x") == (200, b"X")
    assert table.director.aborts == [("g", "the agent failed")]
    assert table.gateway.metrics.aborted == {"agent_failed": 1}


async def test_a_runner_that_raises_ends_its_session_only(table: Table, client: HttpClient) -> None:
    await play(client, ("start", "g"), ("start", "h"))
    assert (await client.step("tick", "g", b"bug"))[0] == 500
    assert table.director.aborts == [("g", "the gateway failed")]
    assert await play(client, ("tick", "g"), ("tick", "h")) == [410, 200]


async def test_sessions_of_a_cast_are_withdrawn(table: Table, client: HttpClient) -> None:
    assert (await client.step("start", "g", ticket="old"))[0] == 200
    assert (await client.step("start", "h", ticket="new"))[0] == 200
    assert table.sessions.withdraw(lambda cast: cast.info["ticket"] == "old", "the training is over") == 1
    assert await play(client, ("tick", "g"), ("tick", "h")) == [410, 200]
    assert table.director.aborts == [("g", "the training is over")]


async def test_the_number_of_sessions_is_limited() -> None:
    async with (
        open_gateway(GatewayLimits(sessions=2, agents=2)) as table,
        connected(HttpClient, table.gateway.ports["http"]) as client,
    ):
        assert await play(client, ("start", "a"), ("start", "b"), ("start", "c")) == [200, 200, 503]
        assert "retry-after: 1" in client.head
        assert await play(client, ("start", "a-agent-2"), ("start", "a-agent-3")) == [200, 409]
        assert await play(client, ("end", "b"), ("start", "c")) == [200, 200]
        assert (await client.step("auto"))[0] == 503
        assert table.director.casts == [("a", ""), ("b", ""), ("c", "")]


async def test_ticks_without_a_session(table: Table, client: HttpClient) -> None:
    assert await client.step("auto", body=b"x") == (200, b"X")
    assert await client.step("", body=b"bare") == (200, b"BARE")
    assert (await client.step("auto", body=b"fail"))[0] == 500
    slow = asyncio.create_task(client.step("auto", body=b"wait"))
    while not table.waiting:
        await asyncio.sleep(0.001)
    table.pass_time(61)
    assert (await slow)[0] == 504
    table.release()
    assert (len(table.sessions), table.director.results) == (0, [])


async def test_open_sessions_are_aborted_when_the_gateway_stops() -> None:
    async with (
        open_gateway() as table,
        connected(HttpClient, table.gateway.ports["http"]) as client,
        connected(HttpClient, table.gateway.ports["http"]) as other,
        connected(HttpClient, table.gateway.ports["http"]) as asking,
    ):
        await client.step("start", "g")
        await client.step("start", "h")
        question = asyncio.create_task(asking.get("/next"))
        slow = asyncio.create_task(other.step("tick", "h", b"wait"))
        while not table.waiting:
            await asyncio.sleep(0.001)
        await table.gateway.stop()
        assert (await slow)[0] == (await question)[0] == 503
        assert await client.rest() == b""
        assert table.director.aborts == [("g", "the gateway stops"), ("h", "the gateway stops")]
