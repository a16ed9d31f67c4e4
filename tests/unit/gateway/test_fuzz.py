"""A short form of `python -m benchmarks.gateway_fuzz`: malformed requests are refused, and harm nobody."""

from __future__ import annotations

import asyncio

import pytest

from benchmarks.faults.gateway_fuzz import fuzz, judge
from tests.unit.gateway.fakes import HttpClient, Table, connected, open_gateway
from workers.gateway.limits import GatewayLimits

REQUESTS = 400


@pytest.fixture
def limits() -> GatewayLimits:
    return GatewayLimits(body_bytes=1 << 20)


@pytest.mark.parametrize("transport", ["http", "tcp", "bray"])
async def test_malformed_requests_are_refused_and_harm_nobody(limits: GatewayLimits, transport: str) -> None:
    async with open_gateway(limits) as table:
        port = table.gateway.ports["http" if transport == "http" else "tcp"]
        async with connected(HttpClient, table.gateway.ports["http"]) as client:
            assert await client.step("start", "proper", b"a") == (200, b"A")
            outcomes = await asyncio.to_thread(fuzz, transport, port, REQUESTS, 3)
            assert sum(outcomes.values()) == REQUESTS
            assert outcomes["hung"] == outcomes["unclear"] == 0, outcomes
            assert outcomes["refused"] > 100 or transport == "bray"
            assert await client.step("tick", "proper", b"b") == (200, b"B")
        await nothing_held(table)


async def nothing_held(table: Table) -> None:
    async with asyncio.timeout(5):
        while len(table.gateway.front.connections):
            await asyncio.sleep(0.01)
    assert table.gateway.front.budget.used == 0


def test_an_unclear_reply_is_found() -> None:
    assert judge("http", b"HTTP/1.1 500 Internal Server Error\r\n\r\nTraceback (most recent call last)") == "unclear"
    assert judge("http", b"HTTP/1.1 400 Bad Request\r\n\r\n") == "unclear"
    assert judge("tcp", b"L\x01\x01") == "unclear"
    assert judge("http", b"HTTP/1.1 404 Not Found\r\n\r\nThere is no such session.") == "refused"
