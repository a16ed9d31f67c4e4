"""A small game that calls in, its agent, and sessions of it that are recorded."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from orchestrator.storage.recorded_games import RecordedGames
from workers.agents.agent import Agent
from workers.agents.agent_set import load_agents
from workers.agents.runner import AgentRunner
from workers.games.remote import declared_spec
from workers.gateway.contract import Cast, Refused, SeatCast, Step, StepKind
from workers.gateway.recording.recorder import GameRecorder
from workers.gateway.recording.rendering import RecordedTick

SPEC = {
    "observation": {"type": "box", "shape": [2]},
    "action": {"type": "discrete", "n": 4},
    "seats": 1,
    "max_steps": 100,
}
TRIAL = "0198c5a2-7c31-7abc-8def-0123456789ab"


class Walker(Agent):
    """Plays what its model says, and is rewarded for the number."""

    scale = 1

    async def on_tick(self, data: Any) -> Any:
        action = await self.forward(np.array(data["seen"], np.float32) * self.scale)
        self.reward(float(action))
        return {"go": int(action)}

    def on_end(self, data: Any) -> Any:
        return {"bye": True}


class Doubled(Walker):
    """Sees otherwise, and says otherwise."""

    scale = 2

    async def on_tick(self, data: Any) -> Any:
        reply = await super().on_tick(data)
        return {"go": reply["go"] + 1}


def draw(tick: RecordedTick) -> Any:
    """One pixel for each number seen."""
    if tick.kind != "tick":
        return None
    return (np.array(tick.data["seen"]).reshape(1, -1) % 256).astype(np.uint8)


def draw_wrongly(tick: RecordedTick) -> Any:
    return np.zeros(3)


class Counting:
    """A model that decides 0, 1, 2, 3, 0, ..."""

    version, update = "counting", 7

    class actor:
        state_shapes: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.decided = 0

    def submit(self, rows: dict[str, NDArray[Any]], decided: Any) -> None:
        decided({"action": np.array([self.decided % 4]), "value": np.zeros(1, np.float32)})
        self.decided += 1


class Director:
    """Casts sessions with a counting model, and keeps what it is told."""

    def __init__(self, **info: Any) -> None:
        self.info = info
        self.finishes: list[Any] = []
        self.aborts: list[str] = []

    def cast(self, session: str, ticket: str) -> Cast:
        seats = [SeatCast(name="main:3", model=Counting())]
        return Cast(spec=declared_spec(SPEC), seats=seats, seed=5, info={"trial": TRIAL, **self.info})

    def episode(self, cast: Cast, episode: Any) -> None:
        pass

    def finished(self, cast: Cast, result: Any) -> None:
        self.finishes.append(result)

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        self.aborts.append(reason)


async def play(recorder: GameRecorder, session: str, ticks: int = 5, *, end: bool = True) -> list[Any]:
    """Play one session as a session table would; returns the replies."""
    loop, agents = asyncio.get_running_loop(), load_agents(Walker)
    make = recorder.runners(lambda name, cast: AgentRunner(name, cast, agents, recorder, loop))
    runner = make(session, recorder.cast(session, ""))
    bodies = [(StepKind.START, b""), *((StepKind.TICK, b'{"seen": [%d, 1]}' % n) for n in range(ticks))]
    replies: list[Any] = []
    for kind, body in [*bodies, *([(StepKind.END, b"")] if end else [])]:
        answer: asyncio.Future[bytes | Refused] = loop.create_future()
        runner.step(Step(session, kind, body), answer.set_result)
        replies.append(await answer)
    if not end:
        runner.abort("the game fell silent")
    return replies


def games(folder: Path) -> RecordedGames:
    return RecordedGames(str(folder))


async def record(folder: Path, ticks: int = 5, **info: Any) -> bytes:
    """The file of one recorded session."""
    recorder = GameRecorder(Director(dump={"every": 1}, purpose="training", **info), games(folder))
    await play(recorder, "game-1", ticks)
    recorder.close()
    (summary,) = games(folder).newest(TRIAL, 10)
    data = games(folder).get(TRIAL, summary.id)
    assert data is not None
    return data
