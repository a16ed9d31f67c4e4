"""Our own frames over TCP. docs/guides/gateway.md describes them byte by byte."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Protocol

from workers.gateway.contract import Refused, Step, StepKind
from workers.gateway.limits import SMALL_BODY
from workers.gateway.session_names import parse_session, parse_ticket

MAGIC = ord("L")
VERSION = 1
HEAD = struct.Struct(">4BII4B")
"""Magic, version, kind, bytes of the session's name; id; bytes of the body; bytes of the ticket, three zeros."""
_WORDS = struct.Struct(">4I")
"""The same bytes, as four numbers."""
REPLY = struct.Struct(">2BHIII")
"""Magic, version, status; id; bytes of the body; milliseconds after which to try again."""
START, TICK, END, AUTO, KEY, NEXT = range(1, 7)
STEP_KINDS = {START: StepKind.START, TICK: StepKind.TICK, END: StepKind.END, AUTO: StepKind.AUTO}
REMEMBERED_NAMES = 4096
_TICK_MARK = MAGIC << 16 | VERSION << 8 | TICK
_OK = MAGIC << 24 | VERSION << 16 | 200
_TICK_KIND = StepKind.TICK


@dataclass(slots=True)
class Key:
    """The token of a connection."""

    token: bytes


@dataclass(slots=True)
class Next:
    """The question what to play next."""

    seconds: str
    game: str
    """The game that the client plays; empty for the one without a name."""


Request = Step | Key | Next | Refused


class FrameCodec(Protocol):
    """How one kind of frames is read and written. It belongs to one connection."""

    head_size: int
    lone_tag: Any
    lone_name: bytes
    """What `request` would say of the last lone tick."""

    def lone_tick(self, data: bytes) -> Step | None:
        """The tick that these bytes are, small and whole; None where they are anything else."""
        ...

    def reply_to_lone(self, answer: bytes) -> bytes:
        """The reply to the last lone tick."""
        ...

    def size(self, data: bytes, at: int) -> int:
        """Bytes of the whole frame whose head is at `at`; raises Refused where it cannot be one."""
        ...

    def request(self, data: bytes, at: int, size: int) -> tuple[Any, bytes, Request, bytes]:
        """What is needed to answer it, the session's name as sent, the request, and the token it carries.

        A request that is refused by itself leaves the connection in order.
        """
        ...

    def reply(self, tag: Any, answer: bytes | Refused) -> bytes | None:
        """The reply's bytes; None where the connection must be closed instead."""
        ...

    def reply_to_unread(self, refusal: Refused) -> bytes | None:
        """Refuses a frame of which not even the head could be read; the connection is closed after it."""
        ...


class OwnFrames:
    """Frames with a magic byte, an id and a status."""

    head_size = HEAD.size

    def __init__(self, body_bytes: int) -> None:
        self._body_bytes = body_bytes
        self._names: dict[bytes, tuple[str, str]] = {}
        self.lone_tag = 0
        self.lone_name = b""
        self._lone_target = ("", "")
        self._lone_size = 0
        self._ok_size, self._ok_head = -1, b""
        """Head of the last reply to a lone tick, and the size of its body."""
        self._lone_head = b""
        """Head and name of the last lone tick: most games send the same again, with another body."""

    def lone_tick(self, data: bytes) -> Step | None:
        if len(data) == self._lone_size and data.startswith(self._lone_head):
            session, agent = self._lone_target
            return Step(session, _TICK_KIND, data[len(self._lone_head) :], agent)
        return self._new_lone_tick(data)

    def _new_lone_tick(self, data: bytes) -> Step | None:
        if not HEAD.size <= len(data) <= SMALL_BODY:
            return None
        first, tag, body, last = _WORDS.unpack_from(data)
        start = HEAD.size + (first & 0xFF)
        if first >> 8 != _TICK_MARK or last or start + body != len(data) or body > self._body_bytes:
            return None
        raw = data[HEAD.size : start]
        target = self._names.get(raw)
        if target is None:
            return None
        if tag != self.lone_tag:
            self._ok_size = -1
        self.lone_tag, self.lone_name, self._lone_target = tag, raw, target
        self._lone_size, self._lone_head = len(data), data[:start]
        return Step(target[0], _TICK_KIND, data[start:], target[1])

    def reply_to_lone(self, answer: bytes) -> bytes:
        if len(answer) != self._ok_size:
            self._ok_size, self._ok_head = len(answer), _WORDS.pack(_OK, self.lone_tag, len(answer), 0)
        return self._ok_head + answer

    def size(self, data: bytes, at: int) -> int:
        magic, version, _, name, _, body, ticket, *zeros = HEAD.unpack_from(data, at)
        if magic != MAGIC or version != VERSION or any(zeros):
            raise Refused(400, "This is not a frame: bytes 0, 1 and 13 to 15 must be 76, 1 and 0. See the guide.")
        if body > self._body_bytes:
            raise Refused(413, f"The body has {body} bytes; at most {self._body_bytes} are allowed.")
        return int(HEAD.size + name + ticket + body)

    def request(self, data: bytes, at: int, size: int) -> tuple[int, bytes, Request, bytes]:
        _, _, kind, name, tag, _, ticket, *_ = HEAD.unpack_from(data, at)
        start = at + HEAD.size
        raw = data[start : start + name]
        body = data[start + name + ticket : at + size]
        try:
            if kind == TICK:
                session, agent = self._target(raw)
                return tag, raw, Step(session, StepKind.TICK, body, agent), b""
            return tag, raw, self._rare(kind, raw, data[start + name : start + name + ticket], body), b""
        except Refused as refusal:
            return tag, raw, refusal, b""

    def reply(self, tag: int, answer: bytes | Refused) -> bytes:
        if isinstance(answer, Refused):
            words = answer.text.encode()
            wait = round((answer.retry_after or 0) * 1000)
            return REPLY.pack(MAGIC, VERSION, answer.status, tag, len(words), wait) + words
        return _WORDS.pack(_OK, tag, len(answer), 0) + answer

    def reply_to_unread(self, refusal: Refused) -> bytes:
        return self.reply(0, refusal)

    def _target(self, raw: bytes) -> tuple[str, str]:
        target = self._names.get(raw)
        if target is None:
            if len(self._names) >= REMEMBERED_NAMES:
                self._names.clear()
            target = self._names[raw] = parse_session(raw)
        return target

    def _rare(self, kind: int, raw: bytes, ticket: bytes, body: bytes) -> Request:
        if kind == AUTO:
            return Step("", StepKind.AUTO, body)
        if kind == KEY:
            return Key(body)
        if kind == NEXT:
            return Next(body.decode("latin-1"), raw.decode(errors="replace"))
        if kind not in STEP_KINDS:
            raise Refused(
                400, f"The frame's kind is {kind}; 1 (start), 2 (tick), 3 (end), 4 (auto), 5 (key) or 6 (next)."
            )
        session, agent = self._target(raw)
        return Step(session, STEP_KINDS[kind], body, agent, parse_ticket(ticket))
