"""Fakes at the edges of a gateway: a director, a runner that echoes, and clients that speak bytes."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import numpy as np

from workers.games.protocol import GameSpec
from workers.gateway.contract import Cast, Episode, GameAnswer, Refused, Reply, SeatCast, SessionResult, Step, StepKind
from workers.gateway.limits import GatewayLimits
from workers.gateway.process import Gateway, GatewayOptions
from workers.gateway.transports.tcp_frames import HEAD, MAGIC, REPLY, VERSION

Client = TypeVar("Client", bound="RawClient")

SPEC = GameSpec(id="fake", seats=1, observation_shape=(2,), actions=2, max_steps=100)


class FakeDirector:
    """Casts every session, and keeps what it is told."""

    def __init__(self) -> None:
        self.casts: list[tuple[str, str]] = []
        self.results: list[SessionResult] = []
        self.aborts: list[tuple[str, str]] = []
        self.refusal: Refused | None = None

    def cast(self, session: str, ticket: str) -> Cast:
        if self.refusal is not None:
            raise self.refusal
        self.casts.append((session, ticket))
        return Cast(SPEC, [SeatCast("v1", None)], info={"ticket": ticket})

    def episode(self, cast: Cast, episode: Episode) -> None:
        raise NotImplementedError

    def finished(self, cast: Cast, result: SessionResult) -> None:
        self.results.append(result)

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        self.aborts.append((session, reason))


class EchoRunner:
    """Echoes bodies in upper case; `wait` is answered by `release`, `fail` ends the session as a failing agent does."""

    waiting: list[Reply]

    def __init__(self, session: str, cast: Cast, director: FakeDirector, waiting: list[Reply]) -> None:
        self.session, self.cast, self.director, self.waiting = session, cast, director, waiting
        self.over = False
        self.ticks = 0
        self.playing: set[str] = set()

    def step(self, step: Step, reply: Reply) -> None:
        if step.kind is StepKind.START:
            self.playing.add(step.agent)
        elif step.kind is StepKind.END:
            self.playing.discard(step.agent)
            if not self.playing:
                self.over = True
                self.director.finished(self.cast, SessionResult(self.session, np.zeros(1), self.ticks))
        else:
            self.ticks += 1
        if step.body == b"wait":
            self.waiting.append(reply)
        elif step.body == b"bug":
            raise ZeroDivisionError
        elif step.body == b"fail":
            self.abort("the agent failed")
            reply(Refused(500, "The agent failed."))
        else:
            reply(step.body.upper())

    def abort(self, reason: str) -> None:
        if not self.over:
            self.over = True
            self.director.aborted(self.cast, self.session, reason)


class FakeGames:
    """A queue of games to play, filled by the test."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, GameAnswer]] = []
        self.names: list[str] = []
        self.withdrawn = 0

    def next_game(self, seconds: float, answer: GameAnswer, name: str = "") -> Callable[[], None]:
        self.names.append(name)
        self.asked.append((seconds, answer))

        def withdraw() -> None:
            self.withdrawn += 1

        return withdraw


class Table:
    """A gateway under test with everything around it."""

    def __init__(self, gateway: Gateway, director: FakeDirector, waiting: list[Reply], games: FakeGames) -> None:
        self.gateway, self.director, self.waiting, self.games = gateway, director, waiting, games
        assert gateway.sessions is not None
        self.sessions = gateway.sessions

    def release(self, answer: bytes = b"RELEASED") -> None:
        replies = list(self.waiting)
        self.waiting.clear()  # what is answered makes room for more
        for reply in replies:
            reply(answer)

    def pass_time(self, seconds: float) -> None:
        """Move the clock, and let it look for what is silent."""
        clock = self.gateway.clock
        clock.now += seconds
        for sweep in clock._sweeps:
            sweep(clock.now)


@asynccontextmanager
async def open_gateway(limits: GatewayLimits | None = None, **options: Any) -> AsyncIterator[Table]:
    """A gateway on free ports of this machine, with HTTP and TCP."""
    director, waiting, games = FakeDirector(), list[Reply](), FakeGames()
    chosen = GatewayOptions(http_port=0, tcp_port=0, limits=limits or GatewayLimits(), **options)
    async with Gateway(chosen) as gateway:
        gateway.play(director, lambda name, cast: EchoRunner(name, cast, director, waiting), games)
        await gateway.listen()
        yield Table(gateway, director, waiting, games)


class RawClient:
    """A connection that sends any bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def rest(self) -> bytes:
        """Everything until the gateway ends the connection."""
        try:
            async with asyncio.timeout(10):
                return await self.reader.read()
        except ConnectionError:
            return b""


class HttpClient(RawClient):
    """A game that speaks HTTP."""

    async def step(self, kind: str, session: str = "", body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        self.send(http_step(kind, session, body, **headers))
        return await self.answer()

    async def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.send(f"GET {path} HTTP/1.1\r\nhost: x\r\n{lines}\r\n".encode())
        return await self.answer()

    async def answer(self) -> tuple[int, bytes]:
        async with asyncio.timeout(10):
            head = await self.reader.readuntil(b"\r\n\r\n")
            self.head = head.decode().lower()
            status = int(head.split()[1])
            size = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"content-length")]
            return status, await self.reader.readexactly(size[0]) if size else b""


def http_step(kind: str, session: str = "", body: bytes = b"", **headers: str) -> bytes:
    """The bytes of a step."""
    fields = {"host": "x", "content-length": str(len(body)), **headers}
    if kind:
        fields["step_kind"] = kind
    if session:
        fields["session"] = session
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST /step HTTP/1.1\r\n{lines}\r\n".encode() + body


class FrameClient(RawClient):
    """A game that speaks our frames."""

    last = 0

    async def step(self, kind: int, session: str = "", body: bytes = b"", ticket: str = "") -> tuple[int, bytes]:
        self.last += 1
        self.send(frame(kind, session, body, tag=self.last, ticket=ticket))
        status, tag, answer = await self.answer()
        assert tag == self.last
        return status, answer

    async def answer(self) -> tuple[int, int, bytes]:
        async with asyncio.timeout(10):
            magic, version, status, tag, size, _ = REPLY.unpack(await self.reader.readexactly(REPLY.size))
            assert (magic, version) == (MAGIC, VERSION)
            return status, tag, await self.reader.readexactly(size)


def frame(kind: int, session: str = "", body: bytes = b"", *, tag: int = 0, ticket: str = "") -> bytes:
    """The bytes of one of our frames."""
    name, told = session.encode(), ticket.encode()
    return HEAD.pack(MAGIC, VERSION, kind, len(name), tag, len(body), len(told), 0, 0, 0) + name + told + body


class BrayClient(RawClient):
    """A game that speaks Bray's frames."""

    key, token = b"fake_key", b"fake_token"

    async def step(self, kind: str, session: str, body: bytes, time: int = 8) -> bytes:
        self.send(self.frame(kind, session, body, time))
        return await self.answer(session, time)

    def frame(self, kind: str, session: str, body: bytes, time: int = 8) -> bytes:
        parts = [session.encode(), kind.encode(), self.key, self.token, body]
        return struct.pack(">6q", *map(len, parts), time) + b"".join(parts)

    async def answer(self, session: str, time: int = 8) -> bytes:
        async with asyncio.timeout(10):
            name, size, echoed = struct.unpack(">3q", await self.reader.readexactly(24))
            assert echoed == time
            assert await self.reader.readexactly(name) == session.encode()
            return await self.reader.readexactly(size)


@asynccontextmanager
async def connected(kind: type[Client], port: int, **tls: Any) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, **tls)
    try:
        yield kind(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
