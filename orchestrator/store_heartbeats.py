"""Heartbeats for short activities that send none themselves: a worker that dies is noticed within seconds."""

from __future__ import annotations

import asyncio
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from orchestrator.contracts.queues import ALIVE_WITHIN

EVERY_SECONDS = 1.0


class HeartbeatInterceptor(Interceptor):
    """Sends a heartbeat every second while an attempt runs whose silence may last `ALIVE_WITHIN`.

    Activities with a limit of their own show progress by their own heartbeats, and get none from here: an attempt that
    hangs must be noticed. A transaction that hangs is ended by its time limit.
    """

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Heartbeats(next)


class _Heartbeats(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        if activity.info().heartbeat_timeout != ALIVE_WITHIN:
            return await super().execute_activity(input)
        beating = asyncio.create_task(_beat())
        try:
            return await super().execute_activity(input)
        finally:
            beating.cancel()


async def _beat() -> None:
    while True:
        await asyncio.sleep(EVERY_SECONDS)
        activity.heartbeat()
