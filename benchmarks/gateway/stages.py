"""Where a tick's time goes: parsing, the agent, the model, the reply. Time in a stage inside another counts once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from time import thread_time
from typing import Any

STAGES = ("parse", "agent", "model", "reply")


class StageClock:
    """Charges time to the innermost stage that is entered."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._stack: list[str] = []
        self._since = 0.0

    def wrap(self, owner: Any, name: str, stage: str) -> None:
        """Have all calls of a method counted as this stage."""
        original: Callable[..., Any] = getattr(owner, name)
        stack, seconds = self._stack, self.seconds

        def timed(*args: Any, **kwargs: Any) -> Any:
            now = thread_time()
            if stack:
                seconds[stack[-1]] += now - self._since
            stack.append(stage)
            self._since = thread_time()
            try:
                return original(*args, **kwargs)
            finally:
                now = thread_time()
                seconds[stack.pop()] += now - self._since
                self._since = now

        setattr(owner, name, timed)

    def take(self) -> dict[str, float]:
        """Seconds by stage since the last call."""
        taken = {stage: self.seconds[stage] for stage in STAGES}
        self.seconds.clear()
        return taken


def watch_stages() -> StageClock:
    """Time the gateway of this process by stage; it gets a little slower by it."""
    from workers.agents.play import RequestedAction
    from workers.gateway.models import BatchedModel
    from workers.gateway.sessions import SessionTable
    from workers.gateway.transports.http import HttpConnection
    from workers.gateway.transports.outbox import Outbox
    from workers.gateway.transports.tcp import TcpConnection

    clock = StageClock()
    for connection in (HttpConnection, TcpConnection):
        clock.wrap(connection, "data_received", "parse")
    clock.wrap(SessionTable, "handle", "agent")
    clock.wrap(RequestedAction, "decided", "agent")
    clock.wrap(BatchedModel, "submit", "model")
    clock.wrap(BatchedModel, "_decide", "model")
    clock.wrap(HttpConnection, "reply", "reply")
    clock.wrap(TcpConnection, "_reply", "reply")
    clock.wrap(TcpConnection, "_reply_solo", "reply")
    clock.wrap(Outbox, "_write", "reply")
    return clock
