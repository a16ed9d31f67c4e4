"""Agents and models behind a real gateway: sessions play together, fail alone and go on through changes of weights."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np

from lanista.agents import Agent
from orchestrator.catalog import Component
from tests.unit.agents.sessions import FakeDirector
from tests.unit.gateway.fakes import HttpClient, connected
from workers.agents.agent_set import load_agents
from workers.agents.runner import AgentRunner
from workers.games.protocol import GameSpec
from workers.gateway.contract import Cast, SeatCast
from workers.gateway.models import BatchedModel
from workers.gateway.process import Gateway, GatewayOptions
from workers.gateway.trajectories import ExperienceQueue
from workers.inference.policy import Policy
from workers.models.contract import build_model

SPEC = GameSpec(id="line", seats=2, observation_shape=(3,), actions=4, max_steps=50)


class Plays(Agent):
    """A body is [seat, observation]; `"bug"` fails."""

    async def on_tick(self, data: Any) -> Any:
        if data == "bug":
            raise ValueError("a bug of mine")
        seat, observation = data
        action = await self.forward(observation, seat=seat)
        self.share("action", action)
        return {"action": action}

    def on_end(self, data: Any) -> Any:
        self.result([1, -1])


class Learns(FakeDirector):
    """Casts one model against itself."""

    def __init__(self, model: BatchedModel, learning: tuple[int, ...] = (0, 1)) -> None:
        super().__init__()
        self.model, self._learning = model, learning

    def cast(self, session: str, ticket: str) -> Cast:
        seats = [SeatCast(self.model.version, self.model, learning=seat in self._learning) for seat in range(2)]
        return Cast(SPEC, seats, info={"purpose": "training"})


def policy(seed: int) -> Policy:
    component = Component(id="mlp", options={"hidden": [16]})
    return Policy(build_model(component, SPEC, seed=seed), component)


@asynccontextmanager
async def playing(agents: Any) -> AsyncIterator[tuple[Learns, int]]:
    """A gateway in which these agents play; its director and its port."""
    loop = asyncio.get_running_loop()
    director, loaded = Learns(BatchedModel(policy(1), SPEC, "v1", update=1)), load_agents(agents)
    async with Gateway(GatewayOptions()) as gateway:
        gateway.play(director, lambda session, cast: AgentRunner(session, cast, loaded, director, loop))
        await gateway.listen()
        yield director, gateway.ports["http"]


def body(value: Any) -> bytes:
    return json.dumps(value).encode()


async def play(port: int, session: str, ticks: int) -> list[int]:
    """The statuses of a game in which both seats move in turn."""
    async with connected(HttpClient, port) as client:
        statuses = [(await client.step("start", session))[0]]
        for number in range(ticks):
            status, reply = await client.step("tick", session, body([number % 2, [number, 0, 1]]))
            statuses.append(status)
            assert json.loads(reply)["action"] in range(4)
        statuses.append((await client.step("end", session))[0])
    return statuses


async def test_sessions_become_results_and_batches_of_experience() -> None:
    async with playing(Plays) as (director, port):
        statuses = await asyncio.gather(*(play(port, f"g{number}", 6) for number in range(8)))
    assert statuses == [[200] * 8] * 8
    assert [result.returns.tolist() for result in director.results] == [[1, -1]] * 8 and director.aborts == []
    assert director.model.batches < director.model.rows == 48, "games that tick together are decided together"
    queue = ExperienceQueue(SPEC)
    assert sum(queue.put(episode) for episode in director.episodes) == 48
    batch = queue.take(48)
    assert batch is not None and batch.trainable_rows == 48 and batch.tables == 16
    last = batch.columns["reward"] != 0
    assert (batch.columns["reward"][last] == np.where(batch.seat[last] == 0, 1, -1)).all() and last.sum() == 16
    assert (batch.acted_by == 1).all() and {"log_prob", "value"} <= batch.columns.keys()


async def test_a_failing_agent_ends_its_own_session_only() -> None:
    async with playing(Plays) as (director, port), connected(HttpClient, port) as client:
        await client.step("start", "good")
        await client.step("start", "bad")
        status, words = await client.step("tick", "bad", body("bug"))
        assert status == 500
        assert b"Plays.on_tick failed: ValueError: a bug of mine (test_agent_sessions.py, line " in words
        assert (await client.step("tick", "bad", body([0, [0, 0, 0]])))[0] == 410
        assert (await client.step("tick", "good", body([0, [0, 0, 0]])))[0] == 200
        assert (await client.step("tick", "good", b"{"))[0] == 400
        assert (await client.step("end", "good"))[0] == 200
    assert [result.session for result in director.results] == ["good"]
    assert len(director.aborts) == 1 and "a bug of mine" in director.aborts[0]


async def test_weights_change_while_games_go_on() -> None:
    async with playing(Plays) as (director, port):
        games = [asyncio.ensure_future(play(port, f"g{number}", 20)) for number in range(4)]
        for update in range(2, 12):
            await asyncio.sleep(0.001)
            director.model.swap(policy(update), update=update)
        assert await asyncio.gather(*games) == [[200] * 22] * 4
    updates = np.concatenate([episode.acted_by for episode in director.episodes if episode.acted_by is not None])
    assert len(updates) == 80 and set(updates.tolist()) <= set(range(1, 12))


class Follows(Plays):
    async def on_tick(self, data: Any) -> Any:
        return {"after": await self.shared("action")}


async def test_agents_of_one_session_are_called_by_their_names() -> None:
    async with (
        playing({"first": Plays, "second": Follows}) as (director, port),
        connected(HttpClient, port) as one,
        connected(HttpClient, port) as two,
    ):
        await one.step("start", "g-agent-first")
        await two.step("start", "g-agent-second")
        waiting = asyncio.ensure_future(two.step("tick", "g-agent-second", b"[]"))
        _, reply = await one.step("tick", "g-agent-first", body([0, [1, 2, 3]]))
        assert json.loads((await waiting)[1])["after"] == json.loads(reply)["action"]
        assert (await one.step("start", "h-agent-third"))[0] == 404
        assert (await one.step("end", "g-agent-first"))[0] == 200
        assert director.results == []
        assert (await two.step("end", "g-agent-second"))[0] == 200
    assert [result.ticks for result in director.results] == [1] and len(director.aborts) == 1


class Sleeps(Plays):
    """Waits for asyncio's own futures, in its coroutine and in a task."""

    async def on_tick(self, data: Any) -> Any:
        await asyncio.sleep(0.001)
        both = await asyncio.gather(self.forward([1, 0, 0], seat=0), self.forward([2, 0, 0], seat=1))
        return [*both, await asyncio.create_task(self._later())]

    async def _later(self) -> Any:
        async with asyncio.timeout(5):
            return await self.forward([3, 0, 0], seat=0)


async def test_agents_wait_for_futures_of_the_gateways_own_loop() -> None:
    async with playing(Sleeps) as (director, port), connected(HttpClient, port) as client:
        await client.step("start", "g")
        status, reply = await client.step("tick", "g")
        assert status == 200 and len(json.loads(reply)) == 3
        assert (await client.step("end", "g"))[0] == 200
    assert [len(episode.columns["reward"]) for episode in director.episodes] == [2, 1]
