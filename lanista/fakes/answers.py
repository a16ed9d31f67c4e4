"""What a fake agent answers: fixed bytes, or what a script returns. Answers can be delayed or left out on request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lanista.fakes.scripts import as_bytes
from workers.games.game_spec import GameSpec
from workers.gateway.contract import Cast, Episode, Refused, Reply, SessionResult, Step, StepKind

FUNCTIONS = ("start", "tick", "end")
"""What an agent's script may define: each is called with (session, body) and returns bytes, text or None."""


@dataclass(slots=True)
class Answers:
    """What to answer, and what was asked so far. It is the director of a gateway without models."""

    start: bytes = b""
    tick: bytes = b""
    end: bytes = b""
    script: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds until each answer."""
    fail_every: int = 0
    """Refuse every n-th tick with status 500, which aborts its session; 0: none."""
    on_step: Callable[[Step, bytes | Refused], None] | None = None
    """Told about each request and its answer."""
    started: int = 0
    ticks: int = 0
    ended: int = 0
    aborts: int = 0
    spec: GameSpec = field(
        default_factory=lambda: GameSpec(id="fake", seats=1, max_steps=1, actions=1, observation_shape=(1,))
    )

    def runner(self, session: str, cast: Cast) -> AnsweringRunner:
        """Runs one session."""
        return AnsweringRunner(self)

    def answer(self, step: Step) -> bytes | Refused:
        """What this request gets."""
        if step.kind is StepKind.TICK:
            self.ticks += 1
            if self.fail_every and self.ticks % self.fail_every == 0:
                return Refused(500, f"A made-up failure: every {self.fail_every}th tick fails.")
        function = self.script.get(step.kind.value)
        if function is None:
            return {StepKind.START: self.start, StepKind.TICK: self.tick, StepKind.END: self.end}[step.kind]
        name = f"{step.session}-agent-{step.agent}" if step.agent else step.session
        try:
            return as_bytes(function(name, step.body), f"{step.kind.value}()")
        except Exception as error:
            return Refused(500, f"The script's {step.kind.value}() failed: {type(error).__name__}: {error}")

    # Director

    def cast(self, session: str, ticket: str) -> Cast:
        """Nobody plays: the answers are made up."""
        self.started += 1
        return Cast(self.spec, [])

    def episode(self, cast: Cast, episode: Episode) -> None:
        """There is none."""

    def finished(self, cast: Cast, result: SessionResult) -> None:
        """See `Director`; runners count by themselves."""

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        """See `Director`; runners count by themselves."""


class AnsweringRunner:
    """Runs one session of made-up answers."""

    __slots__ = ("_answers", "_open", "over")

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._open: set[str] = set()
        self.over = False

    def step(self, step: Step, reply: Reply) -> None:
        """Answer now, or after the delay."""
        answers = self._answers
        answer = answers.answer(step)
        if answers.delay:
            asyncio.get_running_loop().call_later(answers.delay, self._reply, step, answer, reply)
        else:
            self._reply(step, answer, reply)

    def _reply(self, step: Step, answer: bytes | Refused, reply: Reply) -> None:
        if isinstance(answer, Refused):
            self.abort("")
        elif step.kind is StepKind.START:
            self._open.add(step.agent)
        elif step.kind is StepKind.END:
            self._open.discard(step.agent)
            if not self._open:
                self.over = True
                self._answers.ended += 1
        if self._answers.on_step is not None:
            self._answers.on_step(step, answer)
        reply(answer)

    def abort(self, reason: str) -> None:
        """End without a result."""
        if not self.over:
            self.over = True
            self._answers.aborts += 1
