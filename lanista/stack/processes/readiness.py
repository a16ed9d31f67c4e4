"""Checks by which the supervisor sees that a part is ready."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from lanista.stack.ports import answers


def port_answers(port: int) -> Callable[[], Awaitable[bool]]:
    """Whether something listens at the port."""

    async def check() -> bool:
        return await asyncio.to_thread(answers, port)

    return check


def socket_answers(path: Path) -> Callable[[], Awaitable[bool]]:
    """Whether something listens at the Unix socket."""

    async def check() -> bool:
        with suppress(OSError):
            _, writer = await asyncio.open_unix_connection(path)
            writer.close()
            return True
        return False

    return check


def is_written(path: Path) -> Callable[[], Awaitable[bool]]:
    """Whether the part has written its file; the supervisor may have made it empty for another user."""

    async def check() -> bool:
        return await asyncio.to_thread(lambda: path.exists() and path.stat().st_size > 0)

    return check
