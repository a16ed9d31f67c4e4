"""Health checks of the parts that the API depends on, each by name: Postgres, Temporal, Ray."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from temporalio.client import Client
from temporalio.service import RPCError

from api.schemas.installation.system import PartReadiness, Readiness
from api.store.core.engine import Engine, server_version
from api.web.cache import Cache

log = structlog.get_logger()

TIMEOUT_SECONDS = 3.0


class HealthChecks:
    """Checks all parts concurrently, each with a timeout of a few seconds."""

    def __init__(
        self, engine: Engine, temporal: Client, ray_address: str, explain: Callable[[str], str] = lambda _problem: ""
    ) -> None:
        """`explain` turns the SDK's text of a failed connection to Temporal into what to do about it."""
        self.engine = engine
        self.temporal = temporal
        self.ray_address = ray_address
        self._explain = explain
        self._explained = ""
        # no result is kept; but callers share a check that hangs, or a hung Postgres would soon hold every thread
        self._cache = Cache[str](max_entries=3, ttl=0)

    async def run(self) -> Readiness:
        """What each part answered."""
        checks: dict[str, Callable[[], Awaitable[str]]] = {"postgres": self._postgres, "temporal": self._temporal}
        if self.ray_address:
            checks["ray"] = self._ray
        answers = await asyncio.gather(
            *(_attempt(self._cache.get_async(name, check)) for name, check in checks.items())
        )
        parts = dict(zip(checks, answers, strict=True))
        return Readiness(ready=all(part.ok for part in answers), parts=parts)

    async def _postgres(self) -> str:
        return f"PostgreSQL {await asyncio.to_thread(server_version, self.engine)}"

    async def _temporal(self) -> str:
        from temporalio.api.workflowservice.v1 import GetSystemInfoRequest

        try:
            info = await self.temporal.workflow_service.get_system_info(GetSystemInfoRequest())
        except RuntimeError as error:  # the SDK raises it where it cannot connect
            self._log_once(self._explain(str(error)))
            raise
        self._explained = ""
        return f"Temporal {info.server_version}"

    def _log_once(self, advice: str) -> None:
        """For the operator's eyes: the answer to everybody names no files."""
        if advice and advice != self._explained:
            self._explained = advice
            log.error("Temporal cannot be reached", problem=advice)

    async def _ray(self) -> str:
        host, _, port = self.ray_address.rpartition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.close()
        return f"Ray head at {self.ray_address}"


async def _attempt(answer: Awaitable[str]) -> PartReadiness:
    try:
        return PartReadiness(ok=True, detail=await asyncio.wait_for(answer, TIMEOUT_SECONDS))
    except TimeoutError:
        return PartReadiness(ok=False, detail=f"no answer within {TIMEOUT_SECONDS:g} s")
    except RPCError as error:
        return PartReadiness(ok=False, detail=f"not reachable: {error.status.name}")
    except Exception as error:  # only the class of a driver's error is shown: its text could hold a password
        return PartReadiness(ok=False, detail=f"not reachable: {type(error).__name__}")
