"""A gateway whose sessions echo what games send: transports and sessions alone, without agents and models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workers.games.protocol import GameSpec
from workers.gateway.contract import Cast, Episode, Reply, SeatCast, SessionResult, Step, StepKind
from workers.gateway.process import Gateway

SPEC = GameSpec(id="echo", seats=1, observation_shape=(1,), actions=2, max_steps=1_000_000)


class EchoDirector:
    """Lets every session play, and counts how they end."""

    def __init__(self) -> None:
        self.ended = 0
        self.aborts = 0

    def cast(self, session: str, ticket: str) -> Cast:
        return Cast(SPEC, [SeatCast("echo", None)])

    def episode(self, cast: Cast, episode: Episode) -> None:
        """There are no decisions."""

    def finished(self, cast: Cast, result: SessionResult) -> None:
        self.ended += 1

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        self.aborts += 1


class EchoRunner:
    """Answers every step with its own body."""

    __slots__ = ("_cast", "_director", "_playing", "_session", "over")

    def __init__(self, session: str, cast: Cast, director: EchoDirector) -> None:
        self._session, self._cast, self._director = session, cast, director
        self._playing: set[str] = set()
        self.over = False

    def step(self, step: Step, reply: Reply) -> None:
        if step.kind is StepKind.START:
            self._playing.add(step.agent)
        elif step.kind is StepKind.END:
            self._playing.discard(step.agent)
            if not self._playing:
                self.over = True
                self._director.finished(self._cast, SessionResult(self._session, np.zeros(1), 0))
        reply(step.body)

    def abort(self, reason: str) -> None:
        if not self.over:
            self.over = True
            self._director.aborted(self._cast, self._session, reason)


@dataclass(frozen=True)
class EchoBuild:
    """Gives a gateway sessions that echo."""

    async def __call__(self, gateway: Gateway) -> None:
        director = EchoDirector()
        gateway.play(director, lambda session, cast: EchoRunner(session, cast, director))
