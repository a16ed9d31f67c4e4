"""`Front`: the parts of a gateway process that every connection needs, whatever its transport."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workers.gateway.auth import Access
from workers.gateway.contract import GameSource, StepHandler
from workers.gateway.limits import ByteBudget, Clock, GameConnections, GatewayLimits
from workers.gateway.metrics import GatewayMetrics, prometheus_text
from workers.gateway.transports.outbox import Outbox


@dataclass(slots=True)
class Front:
    """The parts that a connection needs, one object for all connections of a process."""

    handler: StepHandler
    clock: Clock
    limits: GatewayLimits
    metrics: GatewayMetrics
    access: Access
    connections: GameConnections = field(init=False)
    outbox: Outbox = field(init=False)
    budget: ByteBudget = field(init=False)
    games: GameSource | None = None
    health: Callable[[], Mapping[str, Any]] = dict
    """Further fields of `GET /health`."""
    collect_metrics: Callable[[Callable[[str], None]], None] = field(init=False)
    """Calls back with Prometheus' text; of several processes, once all have said theirs."""

    def __post_init__(self) -> None:
        self.budget = ByteBudget(self.limits.buffered_bytes)
        self.outbox = Outbox()
        self.connections = GameConnections(self.clock, self.limits.connections)
        self.collect_metrics = self._own_metrics

    def _own_metrics(self, answer: Callable[[str], None]) -> None:
        answer(prometheus_text({0: self.metrics.snapshot()}))
