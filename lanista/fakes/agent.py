"""A fake agent: a real gateway whose answers are made up, to develop a game against."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from lanista.fakes.answers import Answers
from workers.gateway.options import GatewayOptions
from workers.gateway.server import Gateway


async def serve(answers: Answers, options: GatewayOptions, on_ready: Callable[[Gateway], None]) -> None:
    """Answer until SIGINT or SIGTERM."""
    async with Gateway(options) as gateway:
        gateway.play(answers, answers.runner)
        await gateway.listen()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, gateway.end)
        on_ready(gateway)
        await gateway.wait()
