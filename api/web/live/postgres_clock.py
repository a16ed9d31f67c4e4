"""The clock of Postgres' machine against this one's, measured now and then."""

from __future__ import annotations

import asyncio

from api.store.core.clock import postgres_skew
from api.store.core.engine import Engine
from api.web.cache import Cache
from orchestrator.clock_skew import Skew

TTL_SECONDS = 30.0
WAIT_SECONDS = 1.0


class PostgresClock:
    """Measures in a thread; a Postgres that does not answer keeps nobody waiting."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._cache = Cache[Skew](1, ttl=TTL_SECONDS)

    async def read(self) -> Skew | None:
        """How far Postgres' clock is ahead; None while that is not known."""
        return await self._cache.get_or_stale("skew", self._measure, wait=WAIT_SECONDS)

    async def _measure(self) -> Skew:
        return await asyncio.to_thread(postgres_skew, self._engine)
