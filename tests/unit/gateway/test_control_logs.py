"""What a gateway logs about connections of its control channel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from workers.gateway.league.server import Builder, ControlServer, LeagueDirector


def logged(monkeypatch: pytest.MonkeyPatch, say: bytes, reset: bool = False) -> list[Any]:
    """What is logged about a connection that says this and closes."""

    async def run() -> None:
        server = ControlServer(cast(LeagueDirector, None), cast(Builder, None), "k" * 32)
        done = asyncio.Event()
        serve: Callable[..., Any] = server._accept

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await serve(reader, writer)
            done.set()

        monkeypatch.setattr(server, "_accept", accept)
        port = await server.start("127.0.0.1", 0)
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(say)
        if reset:
            cast(asyncio.Transport, writer.transport).abort()
        writer.close()
        await asyncio.wait_for(done.wait(), 30)
        await server.stop()

    with capture_logs() as logs:
        asyncio.run(run())
    return [entry for entry in logs if "control connection" in entry["event"]]


@pytest.mark.parametrize("reset", [False, True])
def test_one_that_says_nothing_is_logged_at_debug_only(monkeypatch: pytest.MonkeyPatch, reset: bool) -> None:
    (entry,) = logged(monkeypatch, b"", reset)
    assert entry["log_level"] == "debug" and "before anything was said" in entry["event"]


@pytest.mark.parametrize(
    "say", [b"GE", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\x02" + bytes(8), b"\0\0\0\x02" + bytes(8) + b"{}"]
)
def test_one_that_says_something_wrong_is_logged_with_its_problem(monkeypatch: pytest.MonkeyPatch, say: bytes) -> None:
    (entry,) = logged(monkeypatch, say)
    assert entry["log_level"] == "info" and entry["problem"]
