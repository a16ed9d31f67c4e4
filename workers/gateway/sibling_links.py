"""Messages between the processes of one gateway, over unix sockets.

A message is its length (u32), its type (u8), an id (u32) and a payload. Only processes of the same user can open the
sockets, so nothing here is distrusted.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import cast

from workers.gateway.contract import Refused, Step, StepKind

HEAD = struct.Struct(">IBI")
STEP = struct.Struct(">BHHH")
ANSWER = struct.Struct(">HI")
MOST_UNSENT = 16 << 20
"""Bytes that may wait for a process; above it steps for it are refused."""
RECONNECT_SECONDS = 0.2

_KINDS = list(StepKind)


class Message(IntEnum):
    """What a process says to another."""

    HELLO = 1
    """Who is calling: the number of the process."""
    STEP = 2
    """A step of a session that the other one has."""
    CLAIM = 3
    """A session's name: I start it, unless another has it."""
    WHERE = 4
    """A session's name: who has it?"""
    HAVE = 5
    """A session's name: I have it. No answer."""
    RELEASE = 6
    """A session's name: I no longer have it. No answer."""
    METRICS = 7
    ANSWER = 8


Call = Callable[[Message, int, bytes], None]
"""Takes a message: its type, its id and its payload."""


def pack_step(step: Step) -> bytes:
    session, agent, ticket = step.session.encode(), step.agent.encode(), step.ticket.encode()
    sizes = STEP.pack(_KINDS.index(step.kind), len(session), len(agent), len(ticket))
    return b"".join((sizes, session, agent, ticket, step.body))


def unpack_step(payload: bytes) -> Step:
    kind, session, agent, ticket = STEP.unpack_from(payload)
    texts = []
    at = STEP.size
    for size in (session, agent, ticket):
        texts.append(payload[at : at + size].decode())
        at += size
    return Step(texts[0], _KINDS[kind], payload[at:], texts[1], texts[2])


def pack_answer(answer: bytes | Refused) -> bytes:
    if isinstance(answer, Refused):
        return ANSWER.pack(answer.status, round((answer.retry_after or 0) * 1000)) + answer.text.encode()
    return ANSWER.pack(200, 0) + answer


def unpack_answer(payload: bytes) -> bytes | Refused:
    status, wait = ANSWER.unpack_from(payload)
    body = payload[ANSWER.size :]
    return body if status == 200 else Refused(status, body.decode(), wait / 1000 or None)


class MessageStream(asyncio.Protocol):
    """Cuts a stream of bytes into messages."""

    def __init__(self, take: Call, lost: Callable[[], None]) -> None:
        self._take, self._lost = take, lost
        self._transport: asyncio.Transport | None = None
        self._chunks: list[bytes] = []
        self._have, self._need = 0, HEAD.size

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._lost()

    def data_received(self, data: bytes) -> None:
        self._chunks.append(data)
        self._have += len(data)
        if self._have < self._need:
            return
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        at, self._need = 0, HEAD.size
        while len(data) - at >= HEAD.size:
            size, kind, tag = HEAD.unpack_from(data, at)
            if len(data) - at < HEAD.size + size:
                self._need = HEAD.size + size
                break
            start = at + HEAD.size
            at = start + size
            self._take(Message(kind), tag, data[start:at])
        self._chunks = [data[at:]] if at < len(data) else []
        self._have = len(data) - at

    @property
    def is_clogged(self) -> bool:
        return self._transport is None or self._transport.get_write_buffer_size() > MOST_UNSENT

    def send(self, kind: Message, tag: int, payload: bytes) -> bool:
        """Send a message; False where nobody is there."""
        if self._transport is None or self._transport.is_closing():
            return False
        self._transport.write(HEAD.pack(len(payload), kind, tag) + payload)
        return True

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class SiblingLink:
    """The way to one other process: calls, and their answers. It connects again by itself."""

    def __init__(self, path: Path, index: int, *, connected: Callable[[], None], lost: Callable[[], None]) -> None:
        self._path, self._index = path, index
        self._on_connected, self._on_lost = connected, lost
        self._stream: MessageStream | None = None
        self._answers: dict[int, Callable[[bytes | None], None]] = {}
        self._last = 0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._connect())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        if self._stream is not None:
            self._stream.close()

    @property
    def is_up(self) -> bool:
        return self._stream is not None

    def tell(self, kind: Message, payload: bytes) -> None:
        """Send what needs no answer; nothing happens where nobody is there."""
        if self._stream is not None:
            self._stream.send(kind, 0, payload)

    def ask(self, kind: Message, payload: bytes, answer: Callable[[bytes | None], None]) -> None:
        """Send, and call `answer` with the reply; with None where the process is not there, or ends before."""
        stream = self._stream
        if stream is None or stream.is_clogged:
            return answer(None)
        self._last = (self._last + 1) & 0xFFFFFFFF
        self._answers[self._last] = answer
        if not stream.send(kind, self._last, payload):
            del self._answers[self._last]
            answer(None)
        return None

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            ended = asyncio.Event()
            try:
                _, stream = await loop.create_unix_connection(
                    lambda ended=ended: MessageStream(self._take, ended.set),  # type: ignore[misc]
                    str(self._path),
                )
            except OSError:
                await asyncio.sleep(RECONNECT_SECONDS)
                continue
            stream.send(Message.HELLO, 0, bytes([self._index]))
            self._stream = stream
            self._on_connected()
            await ended.wait()
            self._stream = None
            answers, self._answers = self._answers, {}
            for answer in answers.values():
                answer(None)
            self._on_lost()

    def _take(self, kind: Message, tag: int, payload: bytes) -> None:
        answer = self._answers.pop(tag, None)
        if answer is not None:
            answer(payload)
