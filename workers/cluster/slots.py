"""The train queue's slots: as many generations at once as Ray's nodes have CPUs, and the nodes come and go."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from temporalio.worker import (
    CustomSlotSupplier,
    SlotMarkUsedContext,
    SlotPermit,
    SlotReleaseContext,
    SlotReserveContext,
)

POLL_SECONDS = 0.25


class ClusterSlots(CustomSlotSupplier):
    """Hands out at most `limit()` slots; when that shrinks, generations under way keep theirs."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._used = 0
        self._lock = threading.Lock()

    async def reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit:
        while True:
            permit = self.try_reserve_slot(ctx)
            if permit is not None:
                return permit
            await asyncio.sleep(POLL_SECONDS)

    def try_reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit | None:
        with self._lock:
            if self._used >= self._limit():
                return None
            self._used += 1
            return SlotPermit()

    def mark_slot_used(self, ctx: SlotMarkUsedContext) -> None:
        """Nothing to note: a slot counts from its reservation."""

    def release_slot(self, ctx: SlotReleaseContext) -> None:
        with self._lock:
            self._used -= 1
