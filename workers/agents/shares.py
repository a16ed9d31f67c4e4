"""Values that the agents of one session share with each other, tick by tick."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from workers.agents.drive import Wait
from workers.agents.errors import AgentError


class SharedWait(Wait):
    """Waits for a value that another agent shares."""

    __slots__ = ("name", "tick")

    def __init__(self, name: str, tick: int) -> None:
        super().__init__()
        self.name, self.tick = name, tick


class Shares:
    """A value has a name and the number of the tick that it is for."""

    __slots__ = ("_loop", "_may_come", "_values", "_waits")

    def __init__(self, loop: asyncio.AbstractEventLoop, may_come: Callable[[int], bool]) -> None:
        """`may_come` says whether some agent of the session can still share in the tick of this number."""
        self._loop, self._may_come = loop, may_come
        self._values: dict[tuple[int, str], Any] = {}
        self._waits: dict[tuple[int, str], SharedWait] = {}

    @property
    def any(self) -> bool:
        """Whether there is a value."""
        return bool(self._values)

    def share(self, name: str, value: Any, tick: int) -> None:
        key = (tick, name)
        if key in self._values:
            raise AgentError(f"{name!r} has been shared in tick {tick} already")
        self._values[key] = value
        wait = self._waits.pop(key, None)
        if wait is not None:  # by call_soon: waiting agents resume after this one yields
            self._loop.call_soon(wait.resolve, value)

    def shared(self, name: str, tick: int) -> SharedWait:
        key = (tick, name)
        if key in self._values:
            wait = SharedWait(name, tick)
            wait.resolve(self._values[key])
            return wait
        wait = self._waits.setdefault(key, SharedWait(name, tick))
        self.look()
        return wait

    def look(self) -> None:
        """Something happened after which waiting may be in vain: find out when this turn of the loop is over."""
        if self._waits:
            self._loop.call_soon(self._refuse_waits_in_vain)

    def forget(self, before: int) -> None:
        """Drop values of earlier ticks than this."""
        self._values = {key: value for key, value in self._values.items() if key[0] >= before}

    def _refuse_waits_in_vain(self) -> None:
        for key, wait in list(self._waits.items()):
            if not self._may_come(wait.tick) and self._waits.pop(key, None) is not None:
                wait.resolve(None, AgentError(f"no agent of the session shares {wait.name!r} in tick {wait.tick}"))
