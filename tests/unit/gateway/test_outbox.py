"""Replies over TCP leave in groups, in order, and none is left behind."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from typing import Any

from workers.gateway.contract import Refused, Reply, Step
from workers.gateway.options import GatewayOptions
from workers.gateway.server import Gateway
from workers.gateway.transports.outbox import GROUP
from workers.gateway.transports.tcp import TcpConnection

NAME = b"g1"


def frame(kind: int, tag: int, body: bytes) -> bytes:
    return bytes((ord("L"), 1, kind, len(NAME))) + struct.pack(">II", tag, len(body)) + bytes(4) + NAME + body


def tags(written: bytes) -> list[int]:
    """The ids of replies."""
    found = []
    while written:
        (_, tag, size, _) = struct.unpack_from(">4I", written)
        found.append(tag)
        written = written[16 + size :]
    return found


class Transport:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.written = b""
        self.closed = False

    def write(self, data: bytes) -> None:
        self.written += data

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 1) if name == "peername" else None

    def is_closing(self) -> bool:
        return self.closed

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.closed = True

    def close(self) -> None:
        self.closed = True

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None


class Echo:
    """Answers at once; refuses bodies that say so."""

    def handle(self, step: Step, reply: Reply) -> None:
        reply(Refused(409, "no") if step.body == b"refuse" else step.body)


def run(test: Callable[[Gateway], Awaitable[None]]) -> None:
    async def main() -> None:
        async with Gateway(GatewayOptions(http_port=None, tcp_port=0), handler=Echo()) as gateway:
            await test(gateway)

    asyncio.run(main())


def connect(gateway: Gateway) -> tuple[TcpConnection, Transport]:
    connection, transport = TcpConnection(gateway.front), Transport()
    connection.connection_made(transport)  # type: ignore[arg-type]
    connection.data_received(frame(1, 0, b""))
    assert tags(transport.written) == [0]
    transport.written = b""
    return connection, transport


def test_replies_wait_for_a_group_or_the_end_of_the_turn() -> None:
    async def test(gateway: Gateway) -> None:
        peers = [connect(gateway) for _ in range(GROUP + 3)]
        for number, (connection, _) in enumerate(peers):
            connection.data_received(frame(2, number, b"tick"))
        assert [bool(transport.written) for _, transport in peers] == [True] * GROUP + [False] * 3
        await asyncio.sleep(0)
        assert [tags(transport.written) for _, transport in peers] == [[number] for number in range(GROUP + 3)]

    run(test)


def test_a_refusal_does_not_overtake_a_reply_that_waits() -> None:
    async def test(gateway: Gateway) -> None:
        connection, transport = connect(gateway)
        for tag, body in ((1, b"tick"), (2, b"tick"), (3, b"refuse"), (4, b"tick")):
            connection.data_received(frame(2, tag, body))
        await asyncio.sleep(0)
        assert tags(transport.written) == [1, 2, 3, 4]

    run(test)


def test_a_peer_that_ends_its_side_still_gets_the_reply_that_waits() -> None:
    async def test(gateway: Gateway) -> None:
        connection, transport = connect(gateway)
        connection.data_received(frame(2, 7, b"tick"))
        assert not transport.written
        connection.eof_received()
        assert tags(transport.written) == [7]

    run(test)


def test_a_gateway_that_stops_sends_what_waits() -> None:
    async def test(gateway: Gateway) -> None:
        connection, transport = connect(gateway)
        connection.data_received(frame(2, 7, b"tick"))
        connection.shut()
        assert tags(transport.written) == [7] and transport.closed

    run(test)


def test_a_connection_that_is_lost_keeps_nobody_from_writing() -> None:
    async def test(gateway: Gateway) -> None:
        (gone, _), (here, transport) = connect(gateway), connect(gateway)
        gone.data_received(frame(2, 1, b"tick"))
        here.data_received(frame(2, 2, b"tick"))
        gone.connection_lost(None)
        await asyncio.sleep(0)
        assert tags(transport.written) == [2]

    run(test)
