"""Malformed calls over gRPC: messages of random bytes, and steps out of order."""

from __future__ import annotations

import random
from typing import Any

import grpc

CLEAR = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.UNAUTHENTICATED,
}
METHODS = ("Gamecore/Start", "Gamecore/Tick", "Gamecore/Tick", "Gamecore/End", "Gamecore/Nowhere", "Replay/Push")


def _field(number: int, value: bytes) -> bytes:
    """A field of bytes as protobuf writes it."""
    size, length = len(value), b""
    while size >= 128:
        length, size = length + bytes([size % 128 + 128]), size // 128
    return bytes([number << 3 | 2]) + length + bytes([size]) + value


def message(rng: random.Random) -> bytes:
    """A step of some session, which may be cut, changed, too large, or no message at all."""
    body = rng.randbytes(rng.choice([0, 10, 200, 2 << 20] if rng.random() < 0.02 else [0, 10, 200]))
    whole = _field(1, b"fuzz-%d" % rng.randrange(50)) + _field(3, body)
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(rng.randint(1, 200))
    if kind == 1:
        return whole[: rng.randrange(len(whole))]
    if kind == 2:
        changed = bytearray(whole)
        changed[rng.randrange(len(changed))] = rng.randrange(256)
        return bytes(changed)
    return whole


class MalformedCalls:
    """One channel, over which many malformed calls are made."""

    def __init__(self, port: int, patience: float) -> None:
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self._patience = patience

    def close(self) -> None:
        self._channel.close()

    def one(self, rng: random.Random) -> str:
        """Make a call; what became of it."""
        call: Any = self._channel.unary_unary(f"/lanista.v1.{rng.choice(METHODS)}", None, None)
        try:
            call(message(rng), timeout=self._patience)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                return "hung"
            return "refused" if error.code() in CLEAR and error.details() else "unclear"
        return "answered"
