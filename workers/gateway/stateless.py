"""Ticks without a session (`step_kind: auto`)."""

from __future__ import annotations

import logging

from workers.gateway.contract import Refused, Reply, Runner, Step

log = logging.getLogger(__name__)


class StatelessTick:
    """One tick of an agent that is then thrown away."""

    __slots__ = ("_all", "_reply", "_runner", "_step", "since")

    def __init__(self, among: set[StatelessTick], runner: Runner, step: Step, reply: Reply, now: float) -> None:
        self._all, self._runner, self._step = among, runner, step
        self._reply: Reply | None = reply
        self.since = now

    def begin(self) -> None:
        try:
            self._runner.step(self._step, self.finish)
        except Exception:
            log.exception("a tick without a session failed")
            self.finish(Refused(500, "The gateway could not answer this tick."))

    def finish(self, answer: bytes | Refused) -> None:
        reply, self._reply = self._reply, None
        if reply is None:
            return
        self._all.discard(self)
        if not self._runner.over:
            self._runner.abort("a tick without a session has no result")
        reply(answer)
