"""The frames between crews and gateways: a kind, fields as JSON, and arrays as they lie in memory. Nothing is pickled.

A frame is the length of its head (4 bytes, big-endian), the length of its arrays (8 bytes, big-endian), the head (JSON)
and the arrays one after the other. The head has the frame's `kind`, its `fields`, and `arrays`: name, type and shape of
each.
"""

from __future__ import annotations

import asyncio
import json
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.gateway.league.tls import Connection

_LENGTHS = struct.Struct(">IQ")
LONGEST_HEAD = 16 << 20
LONGEST_BODY = 4 << 30
LONGEST_GREETING = 4096
"""Bytes of a frame that may be sent before the peer has shown its key."""
PART_BYTES = 1 << 18
"""Sent at once: limits of time hold for each part, so that large weights may take long on a slow line."""
_KINDS = frozenset("biuf")


class BadFrame(ValueError):
    """What arrived is no frame."""


@dataclass(frozen=True)
class Frame:
    """One message."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def encode(self) -> list[bytes | memoryview]:
        """The frame as pieces to send one after the other."""
        flat = {name: np.ascontiguousarray(array) for name, array in self.arrays.items()}
        described = [[name, array.dtype.str, list(self.arrays[name].shape)] for name, array in flat.items()]
        head = json.dumps({"kind": self.kind, "fields": self.fields, "arrays": described}).encode()
        body = sum(array.nbytes for array in flat.values())
        pieces: list[bytes | memoryview] = [_LENGTHS.pack(len(head), body) + head]
        return pieces + [array.reshape(-1).view(np.uint8).data for array in flat.values() if array.nbytes]


def lengths_of(start: bytes, most: int | None = None) -> tuple[int, int]:
    """The lengths of head and arrays; raises BadFrame where they are beyond the limits."""
    head, body = _LENGTHS.unpack(start)
    if head > (LONGEST_HEAD if most is None else most) or body > (LONGEST_BODY if most is None else 0):
        raise BadFrame(f"a frame announces {head} and {body} bytes")
    return head, body


def decode(head: bytes, body: bytes | bytearray) -> Frame:
    """The frame of a head and its arrays, which share the memory of `body`; raises BadFrame."""
    try:
        found = json.loads(head)
        kind, fields, described = found["kind"], found["fields"], found["arrays"]
        if not isinstance(kind, str) or not isinstance(fields, dict):
            raise BadFrame("a frame's kind or fields are of a wrong type")
        arrays, at = {}, 0
        for name, type_name, shape in described:
            arrays[name], at = _array(body, at, type_name, shape)
    except (ValueError, KeyError, TypeError) as error:
        raise BadFrame(f"no frame: {error}") from error
    if at != len(body):
        raise BadFrame(f"a frame's arrays have {at} bytes of {len(body)}")
    return Frame(kind, fields, arrays)


def _array(body: bytes | bytearray, at: int, type_name: str, shape: list[int]) -> tuple[NDArray[Any], int]:
    dtype = np.dtype(type_name)
    if dtype.kind not in _KINDS or dtype.hasobject or any(not isinstance(size, int) or size < 0 for size in shape):
        raise BadFrame(f"an array of type {type_name} and shape {shape}")
    count = math.prod(shape)
    end = at + count * dtype.itemsize
    if end > len(body):
        raise BadFrame("an array is longer than its frame")
    return np.frombuffer(body, dtype, count, at).reshape(shape), end


async def read_frame(
    reader: asyncio.StreamReader,
    most: int | None = None,
    *,
    pause: float | None = None,
    on_part: Callable[[], None] = lambda: None,
) -> Frame:
    """The next frame; raises IncompleteReadError at the end, BadFrame, and TimeoutError if nothing arrives for `pause`.

    `on_part` is called with each part that arrives.
    """

    async def exactly(count: int) -> bytearray:
        into = bytearray()
        while len(into) < count:
            async with asyncio.timeout(pause):
                part = await reader.read(min(count - len(into), 4 * PART_BYTES))
            if not part:
                raise asyncio.IncompleteReadError(bytes(into), count)
            into += part
            on_part()
        return into

    head, body = lengths_of(bytes(await exactly(_LENGTHS.size)), most)
    return decode(bytes(await exactly(head)), await exactly(body))


def receive_frame(connection: Connection) -> Frame:
    """The next frame of a blocking socket; raises EOFError at the end, and BadFrame."""
    head, body = lengths_of(bytes(_receive(connection, _LENGTHS.size)))
    return decode(bytes(_receive(connection, head)), _receive(connection, body))


def _receive(connection: Connection, count: int) -> bytearray:
    into = bytearray(count)
    view, at = memoryview(into), 0
    while at < count:
        got = connection.recv_into(view[at:])
        if not got:
            raise EOFError("the connection was closed")
        at += got
    return into


def send_frame(connection: Connection, frame: Frame) -> None:
    """Send a frame over a blocking socket, whose timeout holds for each part of it."""
    for piece in frame.encode():
        view = memoryview(piece)
        for at in range(0, len(view), PART_BYTES):
            connection.sendall(view[at : at + PART_BYTES])
