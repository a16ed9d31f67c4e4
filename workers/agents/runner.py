"""Runs the agents of one session: requests in, replies out, episodes and the result to the director."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from workers.agents.agent import Agent
from workers.agents.agent_set import AgentSet
from workers.agents.drive import Drive, as_coroutine
from workers.agents.ending import SessionEnding
from workers.agents.errors import BadBody
from workers.agents.failures import report
from workers.agents.part import Part
from workers.agents.shares import Shares
from workers.gateway.contract import Cast, Director, Refused, Reply, Step, StepKind

_GONE = 410


class AgentRunner(SessionEnding):
    """One session from its first `start` to its end, which is when all agents that started have ended.

    Calls the director's `finished` or `aborted` once, then `closed`. Never raises.
    """

    __slots__ = ("shares",)

    def __init__(
        self,
        session: str,
        cast: Cast,
        agents: AgentSet,
        director: Director,
        loop: asyncio.AbstractEventLoop,
        closed: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(session, cast, agents, director, loop, closed)
        self.shares = Shares(loop, self._may_share)

    @property
    def busy(self) -> bool:
        """Whether a request is under way: the game waits for this side."""
        return any(part.reply is not None for part in self._parts.values())

    # Requests

    def step(self, step: Step, reply: Reply) -> None:
        """Take one request of one agent; `reply` is called now or later."""
        part = self._parts.get(step.agent)
        kind = step.kind
        if kind is StepKind.START:
            self._start(step, part, reply)
        elif kind is StepKind.AUTO:
            self._auto(step, reply)
        elif self.over or part is None or part.ended:
            name = f"agent {step.agent!r} of session" if step.agent else "session"
            state = "has not started" if part is None and not self.over else "is over"
            reply(Refused(409, f"{name} {self.session!r} {state}"))
        elif part.reply is not None:
            reply(Refused(409, f"session {self.session!r}: a {part.kind} is under way; wait for its reply"))
        else:
            self._call(part, kind, step.body, reply)

    def abort(self, reason: str) -> None:
        """End the session without a result."""
        if self.over:
            return
        self.over = True
        waiting = [part.reply for part in self._parts.values() if part.reply is not None]
        for drive in [*self._background, *(drive for part in self._parts.values() for drive in part.drives)]:
            drive.close()
        self._tell(self._director.aborted, self.session, reason)
        for reply in waiting:
            reply(Refused(_GONE, f"session {self.session!r} is aborted: {reason}"))
        self._forget()

    def _start(self, step: Step, part: Part | None, reply: Reply) -> None:
        if self.over or part is not None:
            state = "is over" if self.over else "has started already"
            reply(Refused(409, f"session {self.session!r}: agent {step.agent!r} {state}"))
            return
        made = self._make(step.agent, reply)
        if made is not None:
            self._parts[step.agent] = made
            self._call(made, StepKind.START, step.body, reply)
        if not self._parts:
            self.abort("its start was refused")

    def _auto(self, step: Step, reply: Reply) -> None:
        """One tick of an agent that is made for it alone; `on_start` and `on_end` are not called. `abort` follows."""
        if self._strict:
            reply(Refused(400, "step_kind auto has no session: nothing can be learnt or counted from it"))
            return
        made = self._make(step.agent, reply)
        if made is not None:
            self._parts[step.agent] = made
            self._call(made, StepKind.AUTO, step.body, reply)

    def _make(self, name: str, reply: Reply) -> Part | None:
        try:
            factories = self._agents.at(name)
        except Refused as refusal:
            reply(refusal)
            return None
        part = Part(name, factories[0].serializer)
        for factory in factories:
            try:
                agent = factory.make()
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                part.reply = reply
                self._failed(part, f"{factory.cls.__name__}.__init__", error)
                return None
            agent._runner, agent._part = self, part
            agent.session, agent.name, agent.spec, agent.info = self.session, name, self.cast.spec, self.cast.info
            agent.seat = self._agents.seat_of(name, self.cast.spec)
            agent.decision = {}
            part.agents.append(agent)
        return part

    def _call(self, part: Part, kind: StepKind, body: bytes, reply: Reply) -> None:
        """Let the agents of a part answer a request."""
        try:
            data = part.serializer.loads(body, _named(kind))
        except (BadBody, ValueError) as error:
            if kind is StepKind.START:  # forget the part, so that the game can start it again
                del self._parts[part.name]
            reply(Refused(400, str(error)))
            return
        part.kind, part.reply, part.value, part.left = kind, reply, None, len(part.agents)
        if kind is not StepKind.START:
            part.turn += 1
            part.tick += kind is not StepKind.END
            if self.shares.any:
                self.shares.forget(min(each.turn for each in self._parts.values() if not each.ended))
        for agent in part.agents:
            self._ask(part, agent, data)
            if self.over:
                return

    def _ask(self, part: Part, agent: Agent, data: Any) -> None:
        kind = part.kind
        try:
            if kind is StepKind.START:
                value = agent.on_start(data)
            elif kind is StepKind.END:
                value = agent.on_end(data)
            else:
                value = agent.on_tick(data)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit of an agent must not end the gateway
            self._answered(part, agent, None, error)
            return
        if hasattr(value, "__await__"):
            coroutine = as_coroutine(value)
            drive = Drive(coroutine, lambda value, error: self._answered(part, agent, value, error), self.loop)
            part.drives.append(drive)
            drive.step()
        else:
            self._answered(part, agent, value, None)

    def _answered(self, part: Part, agent: Agent, value: Any, error: BaseException | None) -> None:
        """One agent of a part is done with a request."""
        if self.over:
            return
        if isinstance(error, Refused) and error.status < 500:
            value = error
        elif error is not None:
            self._failed(part, f"{type(agent).__name__}.on_{_named(part.kind)}", error)
            return
        if part.value is None:
            part.value = value
        part.left -= 1
        self.shares.look()
        if part.left == 0:
            part.drives.clear()
            if isinstance(part.value, Refused) and part.kind is StepKind.START:
                self._failed(part, "", part.value)
            elif part.kind is StepKind.END and not isinstance(part.value, Refused):
                self._ended(part)
            else:
                self._respond(part)

    def _respond(self, part: Part) -> None:
        """Write the reply of a request that is done."""
        value, reply = part.value, part.reply
        assert reply is not None
        answer: bytes | Refused
        if value is None:
            answer = b""
        elif isinstance(value, bytes | Refused):
            answer = value
        else:
            try:
                answer = part.serializer.dumps(value, _named(part.kind))
            except Exception as error:
                self._failed(part, f"the reply of {type(part.agents[0]).__name__}.on_{_named(part.kind)}", error)
                return
        part.reply = part.value = None
        reply(answer)

    def _failed(self, part: Part | None, where: str, error: BaseException) -> None:
        """An agent raised: the game that waits for it is told, and the session is over."""
        if isinstance(error, Refused):
            words, refusal = error.text, error
        else:
            words = report(where, self.session, error)
            refusal = Refused(500, f"{words}; session {self.session!r} is aborted")
        reply = None
        if part is not None:
            reply, part.reply = part.reply, None
        self.abort(words)
        if reply is not None:
            reply(refusal)

    def _may_share(self, tick: int) -> bool:
        """Whether some agent can still share in this tick. Under names of the game's choice another may yet start."""
        if not self._agents.names and any(self._parts):
            return True
        if any(name not in self._parts for name in self._agents.names):
            return True
        return any(part.may_share(tick) for part in self._parts.values())


def _named(kind: StepKind) -> str:
    """What a serializer calls a request."""
    return "tick" if kind is StepKind.AUTO else kind
