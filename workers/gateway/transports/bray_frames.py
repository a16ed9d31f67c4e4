"""Bray's frames over TCP, as its public clients send them.

A request is six big-endian int64: bytes of session, step_kind, key, token and body, and a time; then these five, in
this order. No client sends bytes for the time, although one of them puts 8 into its place: it is a number that the
reply repeats. A reply is three int64, bytes of session and body, and the time; then session and body. It has no status:
where Bray's server cannot answer it closes the connection, and so do we.
"""

from __future__ import annotations

import struct

from workers.gateway.contract import Refused, Step, StepKind
from workers.gateway.session_names import LONGEST_NAME, parse_kind, parse_session
from workers.gateway.transports.tcp_frames import REMEMBERED_NAMES, Request

HEAD = struct.Struct(">6q")
REPLY = struct.Struct(">3q")
LONGEST_KIND = 16
LONGEST_TOKEN = 4096

Tag = tuple[bytes, int]


class BrayFrames:
    """Frames of one connection of a Bray client."""

    head_size = HEAD.size
    lone_tag: Tag = (b"", 0)
    lone_name = b""

    def __init__(self, body_bytes: int) -> None:
        self._most = (LONGEST_NAME, LONGEST_KIND, LONGEST_TOKEN, LONGEST_TOKEN, body_bytes)
        self._targets: dict[bytes, tuple[str, str]] = {}

    def lone_tick(self, data: bytes) -> None:
        """Bray's clients are not in a hurry."""

    def reply_to_lone(self, answer: bytes) -> bytes:
        raise AssertionError("unreachable: `lone_tick` finds none")

    def size(self, data: bytes, at: int) -> int:
        *sizes, _ = HEAD.unpack_from(data, at)
        for name, size, most in zip(("session", "step_kind", "key", "token", "body"), sizes, self._most, strict=True):
            if not 0 <= size <= most:
                status = 413 if name == "body" and size > most else 400
                raise Refused(status, f"The frame announces {size} bytes of {name}; 0 to {most} are allowed.")
        return HEAD.size + int(sum(sizes))

    def request(self, data: bytes, at: int, size: int) -> tuple[Tag, bytes, Request, bytes]:
        name, kind, key, token, _, time = HEAD.unpack_from(data, at)
        start = at + HEAD.size
        raw = data[start : start + name]
        start += name
        kind_name = data[start : start + kind]
        start += kind
        secret = data[start + key : start + key + token] or data[start : start + key]
        try:
            return (raw, time), raw, self._step(raw, kind_name, data[start + key + token : at + size]), secret
        except Refused as refusal:
            return (raw, time), raw, refusal, secret

    def _step(self, raw: bytes, kind_name: bytes, body: bytes) -> Step:
        kind = parse_kind(kind_name)
        if kind is StepKind.AUTO:
            return Step("", kind, body)
        session, agent = self._target(raw)
        return Step(session, kind, body, agent)

    def reply(self, tag: Tag, answer: bytes | Refused) -> bytes | None:
        if isinstance(answer, Refused):
            return None
        raw, time = tag
        return REPLY.pack(len(raw), len(answer), time) + raw + answer

    def reply_to_unread(self, refusal: Refused) -> None:
        """There is no way to say it."""

    def _target(self, raw: bytes) -> tuple[str, str]:
        target = self._targets.get(raw)
        if target is None:
            if len(self._targets) >= REMEMBERED_NAMES:
                self._targets.clear()
            target = self._targets[raw] = parse_session(raw)
        return target
