"""What a gateway process tells about itself to those who look after the installation."""

from __future__ import annotations

from typing import Any

from workers.gateway.limits import Clock
from workers.gateway.metrics import GatewayMetrics

RATE_SECONDS = 2.0
"""Steps a second are those of the last whole interval of this length."""


class GatewayLoad:
    """Connections, sessions and steps a second of one gateway process."""

    def __init__(self, metrics: GatewayMetrics, clock: Clock) -> None:
        self._metrics = metrics
        self._since, self._steps, self._rate = clock.now, self._total(), 0.0
        clock.each_tick(self._look)

    def described(self) -> dict[str, Any]:
        """The load now, as JSON."""
        return {
            "connections": self._metrics.connections,
            "sessions": self._metrics.sessions,
            "ticks_per_s": round(self._rate, 1),
        }

    def _look(self, now: float) -> None:
        if now - self._since < RATE_SECONDS:
            return
        total = self._total()
        self._rate = (total - self._steps) / (now - self._since)
        self._since, self._steps = now, total

    def _total(self) -> int:
        return sum(self._metrics.requests.values())
