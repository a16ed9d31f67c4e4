"""The open sessions of one gateway process: which step is allowed, which agents run it, and when it expires."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter
from typing import Protocol

from workers.gateway.contract import Cast, Director, Refused, Reply, Runner, RunnerFactory, Step, StepKind
from workers.gateway.limits import Clock, GatewayLimits
from workers.gateway.metrics import GatewayMetrics
from workers.gateway.stateless import StatelessTick

log = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0
REMEMBERED = 4096
"""Closed sessions whose end is still known, so that a late tick is told what happened."""

START, TICK, END, AUTO = StepKind.START, StepKind.TICK, StepKind.END, StepKind.AUTO  # faster than enum lookups

FAILED = "agent_failed"
SILENT = "silent"
STUCK = "no_answer"
WITHDRAWN = "withdrawn"
SHUTDOWN = "shutdown"


class SessionWatch(Protocol):
    """Is told which sessions this process has: the other processes of the gateway send it their steps."""

    def opened(self, name: str) -> None: ...

    def closed(self, name: str) -> None: ...


class _Agent:
    """One agent of a session, between its start and its end."""

    __slots__ = ("begun", "ended", "kind", "reply", "session", "since", "table")

    def __init__(self, table: SessionTable, session: _Session) -> None:
        self.table = table
        self.session = session
        self.reply: Reply | None = None
        """Where the step under way is answered."""
        self.kind = START
        self.begun = 0.0
        self.since = 0.0
        self.ended = False

    def step(self, step: Step, reply: Reply) -> None:
        self.reply = reply
        self.kind = step.kind
        self.since = self.session.seen = self.table.clock.now
        self.begun = perf_counter()
        try:
            self.session.runner.step(step, self.answered)
        except Exception:
            log.exception("session %s: the runner failed", step.session)
            self.answered(Refused(500, f"Session {step.session!r} failed inside the gateway, and was aborted."))
            self.table.abort(self.session, FAILED, "the gateway failed")

    def answered(self, answer: bytes | Refused) -> None:
        """What the runner calls. A second answer, or one after an abort, goes nowhere."""
        reply, self.reply = self.reply, None
        if reply is None:
            return
        self.session.seen = self.table.clock.now  # the idle timeout starts with the answer
        self.table.metrics.answered(perf_counter() - self.begun)
        if self.kind is not TICK or self.session.runner.over:
            self.table.settle(self, answer)
        reply(answer)


class _Session:
    __slots__ = ("agents", "cast", "name", "runner", "seen")

    def __init__(self, name: str, cast: Cast, runner: Runner, now: float) -> None:
        self.name = name
        self.cast = cast
        self.runner = runner
        self.agents: dict[str, _Agent] = {}
        self.seen = now


class SessionTable:
    """Takes the steps of all transports. Runs in the event loop; nothing here waits."""

    def __init__(
        self,
        director: Director,
        make_runner: RunnerFactory,
        *,
        clock: Clock,
        limits: GatewayLimits,
        metrics: GatewayMetrics,
    ) -> None:
        self.clock, self.limits, self.metrics = clock, limits, metrics
        self.watch: SessionWatch | None = None
        self._director = director
        self._make_runner = make_runner
        self._sessions: dict[str, _Session] = {}
        self._closed: dict[str, str] = {}
        self._stateless: set[StatelessTick] = set()
        self._swept = 0.0
        clock.each_tick(self._sweep)

    def __len__(self) -> int:
        return len(self._sessions)

    def __contains__(self, name: str) -> bool:
        return name in self._sessions

    def names(self) -> list[str]:
        return list(self._sessions)

    def handle(self, step: Step, reply: Reply) -> None:
        kind, session = step.kind, self._sessions.get(step.session)
        if kind is START:
            self._start(step, reply, session)
        elif kind is AUTO:
            self._auto(step, reply)
        elif session is None:
            reply(self._unknown(step))
        else:
            agent = session.agents.get(step.agent)
            if agent is None:
                reply(Refused(409, f"{_title(step)} has not started: send `start` first."))
            elif agent.reply is not None:
                reply(Refused(409, f"{_title(step)} is still busy with a {agent.kind}: wait for its reply."))
            elif agent.ended:
                reply(Refused(409, f"{_title(step)} has ended."))
            else:
                agent.step(step, reply)

    # Opening and closing

    def _start(self, step: Step, reply: Reply, session: _Session | None) -> None:
        if session is not None and step.agent in session.agents:
            return reply(Refused(409, f"{_title(step)} has started already: end it first."))
        try:
            session = session or self._open(step)
        except Refused as refusal:
            return reply(refusal)
        except Exception:
            log.exception("session %s: nobody could be found to play it", step.session)
            return reply(Refused(500, f"Session {step.session!r}: the gateway could not start it."))
        if len(session.agents) >= self.limits.agents:
            return reply(
                Refused(409, f"Session {step.session!r} has {self.limits.agents} agents already, which is the limit.")
            )
        agent = session.agents[step.agent] = _Agent(self, session)
        return agent.step(step, reply)

    def _open(self, step: Step) -> _Session:
        if len(self._sessions) >= self.limits.sessions:
            raise Refused(
                503, f"This gateway has {self.limits.sessions} sessions open, which is its limit: try again.", 1.0
            )
        cast = self._director.cast(step.session, step.ticket)
        session = _Session(step.session, cast, self._make_runner(step.session, cast), self.clock.now)
        self._sessions[step.session] = session
        self._closed.pop(step.session, None)
        self.metrics.started += 1
        self.metrics.sessions = len(self._sessions)
        if self.watch is not None:
            self.watch.opened(step.session)
        return session

    def settle(self, agent: _Agent, answer: bytes | Refused) -> None:
        """After a start or an end, and after whatever ended the session."""
        session = agent.session
        refused = isinstance(answer, Refused)
        if agent.kind is START and refused:
            session.agents = {name: other for name, other in session.agents.items() if other is not agent}
            if not session.agents and not session.runner.over:
                self.abort(session, FAILED, "it could not be started")
        elif agent.kind is END and not refused:
            agent.ended = True
        if session.runner.over:
            self._close_over(session)

    def _close_over(self, session: _Session) -> None:
        """A session whose runner is done: by itself, or because an agent failed."""
        if session.name not in self._sessions:
            return
        if session.agents and all(agent.ended for agent in session.agents.values()):
            self.metrics.ended += 1
            self._forget(session, "it has ended")
        else:
            self.metrics.abort(FAILED)
            self._forget(session, "an agent failed, and it was aborted")

    def abort(self, session: _Session, kind: str, reason: str, status: int = 410) -> None:
        """End without a result; steps under way are answered with the reason."""
        if self._sessions.get(session.name) is not session:
            return
        self.metrics.abort(kind)
        waiting = [agent.reply for agent in session.agents.values() if agent.reply is not None]
        for agent in session.agents.values():
            agent.reply = None
        self._forget(session, f"it was aborted: {reason}")
        try:
            session.runner.abort(reason)
        except Exception:
            log.exception("session %s: aborting failed", session.name)
        for reply in waiting:
            reply(Refused(status, f"Session {session.name!r} was aborted: {reason}."))

    def _forget(self, session: _Session, what: str) -> None:
        del self._sessions[session.name]
        session.agents = {}
        self.metrics.sessions = len(self._sessions)
        self._closed[session.name] = what
        if len(self._closed) > REMEMBERED:
            del self._closed[next(iter(self._closed))]
        if self.watch is not None:
            self.watch.closed(session.name)

    def withdraw(self, chosen: Callable[[Cast], bool], reason: str) -> int:
        """Abort the sessions of these casts, such as those of a training that is over; returns how many."""
        gone = [session for session in self._sessions.values() if chosen(session.cast)]
        for session in gone:
            self.abort(session, WITHDRAWN, reason)
        return len(gone)

    def abort_all(self, reason: str) -> None:
        """For the end of the process."""
        for session in list(self._sessions.values()):
            self.abort(session, SHUTDOWN, reason, status=503)

    # Refusals and expiry

    def _unknown(self, step: Step) -> Refused:
        what = self._closed.get(step.session)
        if what is not None:
            return Refused(410, f"Session {step.session!r} is closed: {what}.")
        return Refused(404, f"There is no session {step.session!r}: send `start` first.")

    def _sweep(self, now: float) -> None:
        if now < self._swept + SWEEP_SECONDS:
            return
        self._swept = now
        oldest = now - min(self.limits.session_seconds, self.limits.step_seconds)
        late = [session for session in self._sessions.values() if session.seen < oldest or session.runner.over]
        for session in late:
            self._look_at(session, now)
        for tick in [tick for tick in self._stateless if tick.since < now - self.limits.step_seconds]:
            tick.finish(Refused(504, f"The agent did not answer within {self.limits.step_seconds:g} s."))

    def _look_at(self, session: _Session, now: float) -> None:
        """Give up a session that fell silent, or whose agent does not answer."""
        if session.runner.over:
            return self._close_over(session)
        busy = [agent.since for agent in session.agents.values() if agent.reply is not None]
        if busy and min(busy) < now - self.limits.step_seconds:
            reason = f"an agent did not answer within {self.limits.step_seconds:g} s"
            return self.abort(session, STUCK, reason, status=504)
        if not busy and session.seen < now - self.limits.session_seconds:
            reason = f"no request came for {self.limits.session_seconds:g} s"
            return self.abort(session, SILENT, reason)
        return None

    # One tick without a session

    def _auto(self, step: Step, reply: Reply) -> None:
        if len(self._stateless) + len(self._sessions) >= self.limits.sessions:
            return reply(Refused(503, "This gateway is at its limit of sessions: try again.", 1.0))
        try:
            cast = self._director.cast("", "")
            runner = self._make_runner("", cast)
        except Refused as refusal:
            return reply(refusal)
        except Exception:
            log.exception("nobody could be found to play a tick without a session")
            return reply(Refused(500, "The gateway could not answer this tick."))
        tick = StatelessTick(self._stateless, runner, step, reply, self.clock.now)
        self._stateless.add(tick)
        return tick.begin()


def _title(step: Step) -> str:
    return f"Agent {step.agent!r} of session {step.session!r}" if step.agent else f"Session {step.session!r}"
