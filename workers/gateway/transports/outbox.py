"""Replies that are written in groups: see `Outbox`."""

from __future__ import annotations

import asyncio
from typing import Protocol

GROUP = 8
"""Replies that are written together, at most."""


class Sender(Protocol):
    """A connection with a reply that waits."""

    def send_unsent(self) -> None:
        """Write it."""
        ...


class Outbox:
    """Connections whose replies wait for a few others, at most until the next turn of the event loop.

    A write that finds its reader asleep has to wake it. Replies that leave one by one, between the agents' computations
    of a batch, find it asleep each time; of a group only the first does. See docs/decisions/gateway.md.
    """

    __slots__ = ("_scheduled", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[Sender] = []
        self._scheduled = False

    def add(self, connection: Sender) -> None:
        """Have this connection write soon."""
        waiting = self._waiting
        waiting.append(connection)
        if len(waiting) >= GROUP:
            self._write()
        elif not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._end_of_turn)

    def _end_of_turn(self) -> None:
        self._scheduled = False
        self._write()

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        for connection in waiting:
            connection.send_unsent()
