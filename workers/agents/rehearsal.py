"""Runs an agent without a gateway, a league or weights: to try it out, and to replay recorded games into it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from workers.agents.agent_set import load_agents
from workers.agents.codec import SpecCodec
from workers.agents.runner import AgentRunner
from workers.games.protocol import GameSpec
from workers.gateway.contract import Cast, Episode, Model, Refused, SeatCast, SessionResult, Step, StepKind
from workers.inference.actor import Actor

Choose = Callable[[dict[str, NDArray[Any]]], Any]
"""An action for one row of columns ("obs" or "obs/<part>", "legal"), as the game's space has it."""


class _NoMemory:
    """What sessions ask the actor of a model for."""

    @property
    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {}

    def act(self, rows: Any, draws: Any, explore: Any = 0.0) -> Any:
        raise NotImplementedError("a scripted model has no actor")


class ScriptedModel:
    """A model without weights: any legal action by chance, or what a function chooses. It answers at once."""

    def __init__(self, spec: GameSpec, choose: Choose | None = None, version: str = "scripted", seed: int = 0) -> None:
        self.actor: Actor = _NoMemory()
        self.version, self.update = version, 0
        self._codec, self._choose, self._rng = SpecCodec(spec), choose, np.random.default_rng(seed)

    def submit(self, rows: dict[str, NDArray[Any]], decided: Callable[[Any], None]) -> None:
        """See `Model`."""
        zero = np.zeros(1, np.float32)
        try:
            if self._choose is None:
                uniform = self._rng.random((1, self._codec.layout.width))
                action = self._codec.layout.draw(uniform, rows.get("legal"))
            else:
                action = self._codec.row_of(self._choose(rows))
        except Exception as error:
            decided(error)
            return
        decided({"action": action, "log_prob": zero, "value": zero})


class Rehearsal:
    """One session of an agent, step by step: `start`, `tick`, `end`.

        with Rehearsal(MyAgent, spec) as rehearsal:
            rehearsal.start({"map": "desert"})
            reply = rehearsal.tick({"health": 3})
            rehearsal.end({"won": True})
        print(rehearsal.episodes, rehearsal.result)

    Bodies are bytes, or values that are sent as JSON. A request that is refused raises `Refused`.
    """

    def __init__(
        self,
        agents: Any,
        spec: GameSpec,
        *,
        models: Sequence[Model | None] | None = None,
        learning: Sequence[int] | None = None,
        purpose: str = "training",
        seed: int = 0,
        session: str = "rehearsal",
        episode_length: int | None = None,
    ) -> None:
        """`agents` as a trial file names them, or a class. `models` has one for each seat, None where the game plays
        it; by default all play at random. Seats with a model learn unless `learning` names others.
        """
        self.episodes: list[Episode] = []
        """What the learner would get."""
        self.result: SessionResult | None = None
        """How the game ended; None before that."""
        self.aborted: str | None = None
        """Why there is no result."""
        chosen: Sequence[Model | None]
        chosen = [ScriptedModel(spec, seed=seed + seat) for seat in range(spec.seats)] if models is None else models
        learns = [seat for seat, model in enumerate(chosen) if model is not None] if learning is None else learning
        seats = [
            SeatCast("outside" if model is None else model.version, model, learning=seat in learns)
            for seat, model in enumerate(chosen)
        ]
        cast = Cast(spec=spec, seats=seats, seed=seed, info={"purpose": purpose})
        loaded = load_agents(agents, episode_length=episode_length)
        self._loop = asyncio.new_event_loop()
        self._session = session
        self._runner = AgentRunner(session, cast, loaded, _Director(self), self._loop)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def start(self, body: Any = b"", agent: str = "") -> bytes:
        return self.step(StepKind.START, body, agent)

    def tick(self, body: Any = b"", agent: str = "") -> bytes:
        return self.step(StepKind.TICK, body, agent)

    def end(self, body: Any = b"", agent: str = "") -> bytes:
        return self.step(StepKind.END, body, agent)

    def step(self, kind: StepKind, body: Any = b"", agent: str = "") -> bytes:
        """Send one request and wait for its reply."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._loop.run_until_complete(self._step(Step(self._session, kind, sent, agent)))

    def close(self) -> None:
        """Abort the session if it is not over."""
        if not self._loop.is_closed():
            self._runner.abort("the rehearsal is over")
            self._loop.close()

    async def _step(self, step: Step) -> bytes:
        replied: asyncio.Future[bytes | Refused] = self._loop.create_future()
        self._runner.step(step, replied.set_result)
        reply = await replied
        if isinstance(reply, Refused):
            raise reply
        return reply


class _Director:
    """Hands what a session makes to its rehearsal."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal

    def cast(self, session: str, ticket: str) -> Cast:
        raise NotImplementedError("a rehearsal has its cast already")

    def episode(self, cast: Cast, episode: Episode) -> None:
        self._rehearsal.episodes.append(episode)

    def finished(self, cast: Cast, result: SessionResult) -> None:
        self._rehearsal.result = result

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        self._rehearsal.aborted = reason
