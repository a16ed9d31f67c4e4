"""Agents behind a gateway, over HTTP: from a game's bytes to the director's records."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np

from tests.unit.gateway.fakes import FakeDirector, HttpClient, connected
from workers.agents.agent import Agent
from workers.agents.agent_set import load_agents
from workers.agents.runner import AgentRunner
from workers.gateway.contract import Cast, Episode
from workers.gateway.process import Gateway, GatewayOptions


class Calculator(Agent):
    """Adds numbers; `share` waits for the other agent's."""

    async def on_tick(self, data: Any) -> Any:
        if "share" in data:
            self.share(self.name, data["share"])
            other = "blue" if self.name == "red" else "red"
            return {"sum": data["share"] + await self.shared(other)}
        return {"ratio": data["a"] / data["b"]}

    def on_end(self, data: Any) -> Any:
        self.result([data])


class QuietDirector(FakeDirector):
    def episode(self, cast: Cast, episode: Episode) -> None:
        """The agents above decide nothing."""


@asynccontextmanager
async def playing() -> AsyncIterator[tuple[QuietDirector, int]]:
    director, agents = QuietDirector(), load_agents(Calculator)
    loop = asyncio.get_running_loop()
    async with Gateway(GatewayOptions()) as gateway:
        gateway.play(director, lambda name, cast: AgentRunner(name, cast, agents, director, loop))
        await gateway.listen()
        yield director, gateway.ports["http"]


async def test_an_agent_answers_and_its_result_is_recorded() -> None:
    async with playing() as (director, port), connected(HttpClient, port) as client:
        assert (await client.step("start", "g"))[0] == 200
        status, body = await client.step("tick", "g", b'{"a": 3, "b": 2}')
        assert (status, json.loads(body)) == (200, {"ratio": 1.5})
        assert (await client.step("tick", "g", b"{no json"))[0] == 400
        assert (await client.step("end", "g", b"7.0"))[0] == 200
        assert [result.returns.tolist() for result in director.results] == [[7.0]]
        assert np.isfinite(director.results[0].returns).all() and director.aborts == []


async def test_an_agent_that_raises_harms_its_session_only() -> None:
    async with playing() as (director, port), connected(HttpClient, port) as client:
        for name in ("g", "h"):
            await client.step("start", name)
        status, words = await client.step("tick", "g", b'{"a": 3, "b": 0}')
        assert (status, b"ZeroDivisionError" in words) == (500, True)
        assert [name for name, _ in director.aborts] == ["g"]
        assert (await client.step("tick", "g", b'{"a": 1, "b": 1}'))[0] == 410
        assert (await client.step("tick", "h", b'{"a": 1, "b": 1}'))[0] == 200


async def test_agents_of_a_session_wait_for_each_other() -> None:
    async with playing() as (_, port), connected(HttpClient, port) as red, connected(HttpClient, port) as blue:
        await red.step("start", "g-agent-red")
        await blue.step("start", "g-agent-blue")
        first = asyncio.create_task(red.step("tick", "g-agent-red", b'{"share": 1}'))
        await asyncio.sleep(0.02)
        assert not first.done()
        assert json.loads((await blue.step("tick", "g-agent-blue", b'{"share": 2}'))[1]) == {"sum": 3}
        assert json.loads((await first)[1]) == {"sum": 3}


async def test_a_tick_without_a_session() -> None:
    async with playing() as (director, port), connected(HttpClient, port) as client:
        status, body = await client.step("auto", body=b'{"a": 3, "b": 2}')
        assert (status, json.loads(body)) == (200, {"ratio": 1.5})
        assert director.results == []
