"""Metrics of the Temporal SDK: request latencies, poll and task counts, free worker slots.

Workers serve them by the SDK's own Prometheus endpoint, at an address that a setting names. The API has an endpoint
already, so there they are buffered and collected into its registry.
"""

from __future__ import annotations

import asyncio
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector
from temporalio.runtime import (
    BUFFERED_METRIC_KIND_COUNTER,
    BUFFERED_METRIC_KIND_HISTOGRAM,
    BufferedMetricUpdate,
    LoggingConfig,
    MetricBuffer,
    MetricBufferDurationFormat,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from orchestrator.settings import SettingsError

BUFFER_SIZE = 100_000
"""Updates between two drains; what exceeds it is lost."""
DRAIN_SECONDS = 5.0
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of latencies, in seconds."""

Labels = tuple[tuple[str, str], ...]


def make_runtime(metrics: PrometheusConfig | MetricBuffer | None = None) -> Runtime:
    """An SDK runtime whose own log lines stay at errors. It owns a thread pool: make one per process."""
    quiet = LoggingConfig(filter=TelemetryFilter(core_level="ERROR", other_level="ERROR"))
    return Runtime(telemetry=TelemetryConfig(logging=quiet, metrics=metrics))


def serving_runtime(address: str, setting: str) -> Runtime:
    """A runtime that serves its metrics at http://ADDRESS/metrics; without an address it keeps none.

    Raises SettingsError, with the setting's name, where the address cannot be used.
    """
    if not address:
        return make_runtime()
    try:
        return make_runtime(
            PrometheusConfig(bind_address=address, durations_as_seconds=True, counters_total_suffix=True)
        )
    except ValueError as error:
        raise SettingsError(f"{setting}={address!r}: {error}") from None


@dataclass
class _Histogram:
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0

    def observe(self, value: float) -> None:
        self.buckets[bisect_left(BUCKETS, value)] += 1
        self.total += value


class SdkMetrics(Collector):
    """Collects the metrics of one SDK runtime into a Prometheus registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._buffer = MetricBuffer(BUFFER_SIZE, MetricBufferDurationFormat.SECONDS)
        self.runtime = make_runtime(self._buffer)
        self._lock = threading.Lock()
        self._documents: dict[str, str] = {}
        self._counters: dict[str, dict[Labels, float]] = {}
        self._gauges: dict[str, dict[Labels, float]] = {}
        self._histograms: dict[str, dict[Labels, _Histogram]] = {}
        self._registry = registry
        registry.register(self)

    async def run(self) -> None:
        """Drain the buffer until cancelled, whether anybody collects or not."""
        try:
            while True:
                await asyncio.sleep(DRAIN_SECONDS)
                self.drain()
        finally:
            self._registry.unregister(self)

    def drain(self) -> None:
        """Add up what was buffered since the last time."""
        with self._lock:
            for update in self._buffer.retrieve_updates():
                self._add(update)

    def collect(self) -> Iterable[Metric]:
        """Every metric of the runtime so far."""
        self.drain()
        with self._lock:
            yield from self._families()

    def _add(self, update: BufferedMetricUpdate) -> None:
        name, kind = update.metric.name, update.metric.kind
        self._documents.setdefault(name, update.metric.description or name)
        labels = tuple(sorted((key, str(value)) for key, value in update.attributes.items()))
        if kind == BUFFERED_METRIC_KIND_HISTOGRAM:
            self._histograms.setdefault(name, {}).setdefault(labels, _Histogram()).observe(update.value)
        elif kind == BUFFERED_METRIC_KIND_COUNTER:
            values = self._counters.setdefault(name, {})
            values[labels] = values.get(labels, 0.0) + update.value
        else:
            self._gauges.setdefault(name, {})[labels] = update.value

    def _families(self) -> Iterator[Metric]:
        for kind, suffix, families in (("counter", "_total", self._counters), ("gauge", "", self._gauges)):
            for name, values in families.items():
                metric = Metric(name, self._documents[name], kind)
                for labels, value in values.items():
                    metric.add_sample(name + suffix, dict(labels), value)
                yield metric
        for name, histograms in self._histograms.items():
            metric = Metric(name, self._documents[name], "histogram")
            for labels, histogram in histograms.items():
                count = 0
                for bound, found in zip([*map(str, BUCKETS), "+Inf"], histogram.buckets, strict=True):
                    count += found
                    metric.add_sample(f"{name}_bucket", {**dict(labels), "le": bound}, count)
                metric.add_sample(f"{name}_count", dict(labels), count)
                metric.add_sample(f"{name}_sum", dict(labels), histogram.total)
            yield metric
