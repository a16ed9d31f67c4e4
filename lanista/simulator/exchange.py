"""Requests to a gateway as coroutines: one connection, one request at a time."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from lanista.simulator.wire import Address, Wire


class Refused(Exception):
    """The gateway refused a request. `status` is an HTTP status; `retry_after` is in seconds, 0 if unsaid."""

    def __init__(self, status: int, text: str, retry_after: float) -> None:
        super().__init__(status, text, retry_after)
        self.status, self.text, self.retry_after = status, text, retry_after

    def __str__(self) -> str:
        return f"{self.status}: {self.text}"


class Exchange:
    """A connection to a gateway. A request on a lost connection raises ConnectionError; the next opens another."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._wire: Wire | None = None
        self._answer: asyncio.Future[bytes] | None = None

    async def step(self, kind: str, session: str, body: bytes, ticket: str = "") -> bytes:
        """The agent's answer; raises Refused."""
        wire, answer = await self._begin()
        wire.request(kind, session, body, ticket)
        return await answer

    async def next_game(self, seconds: float, game: str = "") -> dict[str, Any] | None:
        """What to play next of this game; None where nothing comes up in this time."""
        wire, answer = await self._begin()
        wire.ask_next(seconds, game)
        found: dict[str, Any] | None = json.loads(await answer or b"null")
        return found

    def close(self) -> None:
        """Close the connection; sessions that have not ended expire."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    async def _begin(self) -> tuple[Wire, asyncio.Future[bytes]]:
        if self._wire is None:
            self._wire = await self._address.connect(self._replied, self._lost)
        self._answer = asyncio.get_running_loop().create_future()
        return self._wire, self._answer

    def _replied(self, status: int, body: bytes, retry_after: float) -> None:
        if self._answer is None or self._answer.done():
            return
        if status < 300:
            self._answer.set_result(body)
        else:
            self._answer.set_exception(Refused(status, body.decode("utf-8", "replace").strip(), retry_after))

    def _lost(self) -> None:
        self._wire = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError("the gateway closed the connection"))
