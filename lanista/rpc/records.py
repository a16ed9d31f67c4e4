"""Gives a gateway the league's records, so that it serves Policy and Parameters over gRPC."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from lanista.client.asynchronous import AsyncClient
from lanista.client.errors import LanistaError
from lanista.client.local import ApiAddress
from lanista.rpc.registry import ClientRegistry
from workers.gateway.process import Build
from workers.gateway.server import Gateway

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WithRecords:
    """What plays in a gateway, and the records behind its gRPC port: see `workers.gateway.process.Build`."""

    build: Build
    where: Callable[[], ApiAddress]
    project: str

    async def __call__(self, gateway: Gateway) -> None:
        await self.build(gateway)
        if gateway.options.grpc_port is None:
            return
        try:
            client = AsyncClient(self.where())
        except LanistaError as error:
            _log.warning("Policy and Parameters are not served over gRPC: %s", error)
            return
        registry = ClientRegistry(client, self.project)
        gateway.registry = registry

        async def close() -> None:
            await registry.close()
            await client.close()

        gateway.at_stop(close)
