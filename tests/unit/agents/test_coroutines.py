"""Agents whose ticks wait: for asyncio, for several decisions, and for other agents of the session."""

from __future__ import annotations

import asyncio
from typing import Any

from lanista.agents import Refused
from tests.unit.agents.sessions import Counter, FakeModel, Session, cast, turns


class Waits(Counter):
    async def on_tick(self, data: Any) -> Any:
        async with asyncio.timeout(1):
            await asyncio.sleep(0)


class Sleeps(Counter):
    async def on_tick(self, data: Any) -> Any:
        await asyncio.sleep(0)
        await asyncio.sleep(0.001)
        first, second = await asyncio.gather(self.forward([1, 0, 0]), self.forward([2, 0, 0], seat=1))
        third = await asyncio.create_task(self._later())
        return [first, second, third]

    async def _later(self) -> Any:
        async with asyncio.timeout(1):
            return await self.forward([3, 0, 0])


async def test_futures_and_tasks_of_asyncio_work_inside_agents() -> None:
    model = FakeModel(later=True)
    session = Session(Sleeps, cast(model))
    session.ask("start")
    reply = session.send("tick")
    for _ in range(50):
        await asyncio.sleep(0.001)
        model.answer()
        if reply:
            break
    assert reply == [b"[1,2,3]"]


async def test_what_needs_a_task_says_how_to_get_one() -> None:
    session = Session(Waits)
    session.ask("start")
    assert "create_task" in session.refused("tick").text


class Both(Counter):
    """Asks for two decisions before it waits for the first."""

    async def on_tick(self, data: Any) -> Any:
        asked = [self.forward([seat, 0, 0], seat=seat) for seat in (0, 1)]
        return [await each for each in asked]


async def test_decisions_are_asked_for_before_they_are_awaited() -> None:
    model = FakeModel(later=True)
    session = Session(Both, cast(model))
    session.ask("start")
    reply = session.send("tick")
    assert len(model.waiting) == 2
    model.answer()
    assert reply == [b"[0,1]"]


class Direct(Counter):
    def on_tick(self, data: Any) -> Any:
        return self.forward([1, 0, 0])


async def test_a_plain_method_may_return_the_decision_itself() -> None:
    model = FakeModel(later=True)
    session = Session(Direct, cast(model))
    session.ask("start")
    reply = session.send("tick")
    model.answer()
    assert reply == [b"1"]


class Forgets(Counter):
    def on_tick(self, data: Any) -> Any:
        return {"action": self.forward([1, 0, 0])}


async def test_a_forgotten_await_is_explained() -> None:
    session = Session(Forgets)
    session.ask("start")
    assert "RequestedAction" in session.refused("tick").text


class Silent(Counter):
    """Says nothing; the other agent answers."""

    async def on_tick(self, data: Any) -> Any:
        self.metric("seen", (await self.shared("action")) * 1.0)


class Sharing(Counter):
    async def on_tick(self, data: Any) -> Any:
        action = await self.forward(data)
        self.share("action", action)
        return action


async def test_several_agents_get_the_same_tick_and_wait_for_each_other() -> None:
    session = Session([Silent, Sharing])
    session.ask("start")
    first = session.send("tick", b"[3,0,0]")
    await turns()
    second = session.send("tick", b"[1,0,0]")
    await turns()
    assert (first, second) == ([b"3"], [b"1"])
    session.ask("end", b"[0,0]")
    assert session.director.results[0].metrics == {"seen": 2.0}


async def test_agents_with_names_of_their_own_wait_for_each_other() -> None:
    session = Session({"red": Silent, "blue": Sharing})
    assert session.refused("start", agent="green").status == 404
    session = Session({"red": Silent, "blue": Sharing})
    session.ask("start", agent="red")
    session.ask("start", agent="blue")
    red = session.send("tick", b"[3,0,0]", "red")
    await turns()
    assert red == []
    blue = session.send("tick", b"[2,0,0]", "blue")
    await turns()
    assert (red, blue) == ([b""], [b"2"])
    session.ask("end", b"[1,0]", "red")
    assert not session.runner.over, "blue still plays"
    session.ask("end", b"[1,0]", "blue")
    assert session.director.results[0].returns.tolist() == [1.0, 0.0]
    assert [episode.seat for episode in session.director.episodes] == [0]


async def test_waiting_in_vain_is_an_error_and_no_standstill() -> None:
    session = Session([Silent, Counter])
    session.ask("start")
    reply = session.send("tick", b"[[1,0,0],0]")
    await turns()
    (refusal,) = reply
    assert isinstance(refusal, Refused) and "no agent of the session shares 'action' in tick 1" in refusal.text
