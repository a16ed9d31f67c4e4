"""Gives a serving gateway the records of what it follows, so that it serves Policy over gRPC."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from lanista.client.asynchronous import AsyncClient
from lanista.client.errors import LanistaError
from lanista.client.local import ApiAddress
from lanista.rpc.registry import ClientRegistry
from lanista.serving.followed import Followed
from workers.gateway.contract import Refused
from workers.gateway.process import Build
from workers.gateway.rpc.registry import ModelRegistry, VersionRef
from workers.gateway.server import Gateway

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WithRecords:
    """What plays in a gateway, and the followed records behind its gRPC port: see `workers.gateway.process.Build`."""

    build: Build
    where: Callable[[], ApiAddress]
    followed: Followed

    async def __call__(self, gateway: Gateway) -> None:
        await self.build(gateway)
        if gateway.options.grpc_port is None:
            return
        try:
            client = AsyncClient(self.where())
        except LanistaError as error:
            _log.warning("Policy is not served over gRPC: %s", error)
            return
        registry = ClientRegistry(client, self.followed.project)
        gateway.registry = FollowedRegistry(registry, self.followed)

        async def close() -> None:
            await registry.close()
            await client.close()

        gateway.at_stop(close)


class FollowedRegistry:
    """The followed alias and the canary out of other records: callers of games have no right to anything else."""

    def __init__(self, registry: ModelRegistry, followed: Followed) -> None:
        self._registry = registry
        alias = followed.label if followed.game is None else f"{followed.label}:{followed.game}"
        self._names = {followed.alias: alias, followed.label: alias, alias: alias}
        """What a caller may name, and what it is in the records."""
        if followed.canary is not None:
            self._names.setdefault(followed.canary, followed.canary)

    async def find(self, model: str) -> VersionRef:
        """See `ModelRegistry`."""
        return await self._registry.find(self._followed(model))

    async def checkpoint(self, version: VersionRef) -> bytes:
        """See `ModelRegistry`."""
        return await self._registry.checkpoint(version)

    def follow(self, model: str) -> AsyncIterator[VersionRef]:
        """See `ModelRegistry`."""
        return self._registry.follow(self._followed(model))

    async def publish(self, *, trial: str, name: str, like: str | None, data: bytes) -> VersionRef:
        """See `ModelRegistry`."""
        raise Refused(403, "this server publishes nothing: use the service Parameters of `lanista rpc`")

    def _followed(self, model: str) -> str:
        found = self._names.get(model)
        if found is None:
            raise Refused(403, f"this server does not serve {model!r}; allowed: {', '.join(self._names)}")
        return found
