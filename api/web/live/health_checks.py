"""Whether the parts the API depends on can be reached, each by name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from temporalio.client import Client
from temporalio.service import RPCError

from api.schemas.system import PartReadiness, Readiness
from api.store.core.engine import Engine, server_version

PATIENCE = 3.0


@dataclass(frozen=True)
class ReadinessChecks:
    """Looks at each part, all at once, and never waits longer than a few seconds."""

    engine: Engine
    temporal: Client
    ray_address: str
    _under_way: dict[str, asyncio.Task[str]] = field(default_factory=dict)
    """A check that hangs is shared by those who ask meanwhile, or a hung Postgres would soon hold every thread."""

    async def run(self) -> Readiness:
        checks: dict[str, Callable[[], Coroutine[Any, Any, str]]] = {
            "postgres": self._postgres,
            "temporal": self._temporal,
        }
        if self.ray_address:
            checks["ray"] = self._ray
        answers = await asyncio.gather(*(_attempt(self._once(name, check)) for name, check in checks.items()))
        parts = dict(zip(checks, answers, strict=True))
        return Readiness(ready=all(part.ok for part in answers), parts=parts)

    def _once(self, name: str, check: Callable[[], Coroutine[Any, Any, str]]) -> Awaitable[str]:
        task = self._under_way.get(name)
        if task is None or task.done():
            self._under_way[name] = task = asyncio.create_task(check())
        return asyncio.shield(task)

    async def _postgres(self) -> str:
        return f"PostgreSQL {await asyncio.to_thread(server_version, self.engine)}"

    async def _temporal(self) -> str:
        from temporalio.api.workflowservice.v1 import GetSystemInfoRequest

        info = await self.temporal.workflow_service.get_system_info(GetSystemInfoRequest())
        return f"Temporal {info.server_version}"

    async def _ray(self) -> str:
        host, _, port = self.ray_address.rpartition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.close()
        return f"Ray head at {self.ray_address}"


async def _attempt(answer: Awaitable[str]) -> PartReadiness:
    try:
        return PartReadiness(ok=True, detail=await asyncio.wait_for(answer, PATIENCE))
    except TimeoutError:
        return PartReadiness(ok=False, detail=f"no answer within {PATIENCE:g} s")
    except RPCError as error:
        return PartReadiness(ok=False, detail=f"not reachable: {error.status.name}")
    except Exception as error:  # whatever a driver raises, its class tells; its text could hold a password
        return PartReadiness(ok=False, detail=f"not reachable: {type(error).__name__}")
