"""A session without a gateway: a director that remembers, models that answer at once or later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanista.agents import Agent
from workers.agents.agent_set import load_agents
from workers.agents.runner import AgentRunner
from workers.games.protocol import GameSpec
from workers.gateway.contract import Cast, Episode, Refused, SeatCast, SessionResult, Step, StepKind

SPEC = GameSpec(id="line", seats=2, observation_shape=(3,), actions=4, max_steps=50)
Row = dict[str, NDArray[Any]]


class FakeActor:
    """What sessions ask an actor for."""

    placed = False

    def __init__(self, **state_shapes: tuple[int, ...]) -> None:
        self.state_shapes = state_shapes


class FakeModel:
    """Plays the action that is the first number of the observation."""

    def __init__(self, version: str = "fake", *, later: bool = False, log_prob: bool = True, state: int = 0) -> None:
        self.actor: Any = FakeActor(**({"state": (state,)} if state else {}))
        self.version, self.update = version, 1
        self.rows: list[Row] = []
        self.waiting: list[tuple[Row, Callable[[Any], None]]] = []
        self._later, self._log_prob = later, log_prob
        self.failure: Exception | None = None

    def submit(self, rows: Row, decided: Callable[[Any], None]) -> None:
        self.rows.append(rows)
        self.waiting.append((rows, decided))
        if not self._later:
            self.answer()

    def answer(self) -> None:
        waiting, self.waiting = self.waiting, []
        for rows, decided in waiting:
            decided(self.failure or self._decide(rows))

    def _decide(self, rows: Row) -> Row:
        answer: Row = {"action": rows["obs"][:, 0].astype(np.int64), "value": rows["obs"][:, 1]}
        if self._log_prob:
            answer["log_prob"] = np.full(1, -1.0, np.float32)
        if "state" in rows:
            answer["state"] = rows["state"] + 1
        return answer


class FakeDirector:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.episodes: list[Episode] = []
        self.results: list[SessionResult] = []
        self.aborts: list[str] = []

    def cast(self, session: str, ticket: str) -> Cast:
        return cast()

    def episode(self, cast: Cast, episode: Episode) -> None:
        self.episodes.append(episode)

    def finished(self, cast: Cast, result: SessionResult) -> None:
        self.results.append(result)

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        self.aborts.append(reason)


def cast(
    *models: FakeModel | None, learning: tuple[int, ...] = (0,), purpose: str = "training", spec: GameSpec = SPEC
) -> Cast:
    """Who plays: one model for each seat, or one for all."""
    given = models or (FakeModel(),)
    chosen = given if len(given) == spec.seats else given * spec.seats
    seats = [
        SeatCast("outside" if model is None else model.version, model, learning=seat in learning)
        for seat, model in enumerate(chosen)
    ]
    return Cast(spec=spec, seats=seats, seed=7, info={"purpose": purpose})


class Session:
    """One session, and the replies to its requests in order."""

    def __init__(self, agents: Any, played: Cast | None = None, **options: Any) -> None:
        self.director = FakeDirector()
        self.closed = 0
        loop = asyncio.get_running_loop()
        self.runner = AgentRunner(
            "s1", played or cast(), load_agents(agents, **options), self.director, loop, self._close
        )

    def _close(self) -> None:
        self.closed += 1

    def send(self, kind: str, body: bytes = b"", agent: str = "") -> list[bytes | Refused]:
        """The list that will hold the reply."""
        replies: list[bytes | Refused] = []
        self.runner.step(Step("s1", StepKind(kind), body, agent), replies.append)
        return replies

    def ask(self, kind: str, body: bytes = b"", agent: str = "") -> bytes:
        """The reply, which must have come at once."""
        (reply,) = self.send(kind, body, agent)
        assert not isinstance(reply, Refused), reply.text
        return reply

    def refused(self, kind: str, body: bytes = b"", agent: str = "") -> Refused:
        (reply,) = self.send(kind, body, agent)
        assert isinstance(reply, Refused), reply
        return reply


async def turns(count: int = 5) -> None:
    """Let the event loop turn."""
    for _ in range(count):
        await asyncio.sleep(0)


class Counter(Agent):
    """Plays seat 0; the body of a tick is [observation, reward]."""

    def on_start(self, data: Any) -> Any:
        self.seat = 0
        return {"hello": data}

    async def on_tick(self, data: Any) -> Any:
        observation, reward = data
        if reward:
            self.reward(reward)
        return {"action": await self.forward(observation), "tick": self.tick}

    def on_end(self, data: Any) -> Any:
        if data is not None:
            self.result(data)
        return "bye"
