"""Many clients that repeat one GET over persistent connections, with little CPU time of their own.

Requests are encoded once, and only the status and the length of an answer are read: on a machine that runs both
sides, the cost of the clients would be measured as the server's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

PATIENCE = 60
_END = b"\r\n\r\n"
_LENGTH = b"\r\ncontent-length: "
_BODILESS = frozenset({204, 304})


class UnexpectedAnswer(RuntimeError):
    """A status that was not expected, or an answer without a length."""


@dataclass(frozen=True)
class Timed:
    """Latencies in milliseconds, sorted, and the clients' CPU time per request."""

    times: list[float]
    client_cpu: float

    def percentile(self, share: float) -> float:
        return self.times[min(len(self.times) - 1, int(len(self.times) * share))]


def request_bytes(port: int, path: str, headers: Mapping[str, str]) -> bytes:
    """One GET as it goes over the wire."""
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def time_gets(port: int, request: bytes, status: int, *, clients: int, each: int) -> Timed:
    """Run several clients at once, each with its own connection; each sends its next request after the last answer."""
    return asyncio.run(_time_gets(port, request, status, clients, each))


async def _time_gets(port: int, request: bytes, status: int, clients: int, each: int) -> Timed:
    loop = asyncio.get_running_loop()
    asking: list[_Client] = []
    try:
        for _ in range(clients):
            _, client = await loop.create_connection(lambda: _Client(request, status, each, loop), "127.0.0.1", port)
            asking.append(client)
        cpu = time.process_time()
        for client in asking:
            client.ask()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(client.done for client in asking))
        cpu = time.process_time() - cpu
    finally:
        await asyncio.gather(*(client.close() for client in asking))
    times = sorted(each for client in asking for each in client.times)
    return Timed(times, cpu * 1000 / len(times))


class _Client(asyncio.Protocol):
    """Sends a request, waits for the whole answer, records the time, and repeats."""

    def __init__(self, request: bytes, status: int, count: int, loop: asyncio.AbstractEventLoop) -> None:
        self._request = request
        self._status = f"HTTP/1.1 {status} ".encode()
        self._has_body = status not in _BODILESS
        self._count = count
        self._transport: asyncio.WriteTransport | None = None
        self.done: asyncio.Future[None] = loop.create_future()
        self._closed: asyncio.Future[None] = loop.create_future()
        self.times: list[float] = []
        self._begin()

    def _begin(self) -> None:
        self._head = b""
        self._missing = -1
        """Bytes of the body still to come; below 0 while its length is not known."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def ask(self) -> None:
        assert self._transport is not None
        self._begin()
        self._asked = time.perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        try:
            self._take(data)
        except UnexpectedAnswer as error:
            self._fail(error)

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(UnexpectedAnswer(f"the server ended the connection: {exc}"))
        self._closed.set_result(None)

    async def close(self) -> None:
        """End the connection; `done` has already reported any error."""
        assert self._transport is not None
        self._transport.abort()
        await self._closed
        if not self.done.cancelled():
            self.done.exception()

    def _take(self, data: bytes) -> None:
        if self._missing < 0:
            self._head += data
            end = self._head.find(_END)
            if end < 0:
                return
            self._missing = self._body_length(self._head[:end]) - (len(self._head) - end - len(_END))
        else:
            self._missing -= len(data)
        if self._missing == 0:
            self._answered()

    def _body_length(self, head: bytes) -> int:
        if not head.startswith(self._status):
            raise UnexpectedAnswer(f"{head.splitlines()[0]!r} instead of {self._status!r}")
        if not self._has_body:
            return 0
        _, found, rest = head.lower().partition(_LENGTH)
        if not found:
            raise UnexpectedAnswer("an answer without its length")
        return int(rest.partition(b"\r\n")[0])

    def _answered(self) -> None:
        self.times.append((time.perf_counter() - self._asked) * 1000)
        if len(self.times) < self._count:
            self.ask()
        else:
            self.done.set_result(None)

    def _fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)
