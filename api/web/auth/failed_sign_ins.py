"""Failed sign-ins from one address: limited once the caller is known to have failed.

A valid token is never refused because of invalid ones from the same address: behind one address there may be many
people. So the lookup comes first, and an address with too many failures shares one thread for its lookups.

See docs/decisions/authentication.md.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio
from anyio import to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from api.addresses import limit_key
from api.web.auth.rate_limits import RateLimit, too_many
from api.web.auth.tokens import Principal

LookUp = Callable[[], Principal | None]


class FailedSignIns:
    """The limit on failures for each address; a limit of 0 per minute allows everything."""

    def __init__(self, per_minute: float) -> None:
        self._limit = RateLimit(per_minute / 60, max(1, int(per_minute)))
        self._slow_lane = anyio.CapacityLimiter(1)

    async def look_up(self, request: Request, find: LookUp) -> Principal | None:
        """The result of a query for a caller; callers of an address above the limit wait for each other."""
        if self._limit.wait_for(_key(request), take=False):
            return await to_thread.run_sync(find, limiter=self._slow_lane)
        return await run_in_threadpool(find)

    def refusal(self, request: Request) -> Response | None:
        """Count a failure; the response if the address has had too many."""
        wait = self._limit.wait_for(_key(request))
        return too_many(wait, "too many failed attempts to sign in from this address") if wait else None


def _key(request: Request) -> str:
    return limit_key(request.client.host if request.client else None)
