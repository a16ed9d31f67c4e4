"""CPU, memory, reserved CPUs and queue lengths of the last hour: sampled in memory, bounded, gone with the process."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime

import psutil
import structlog

from api.schemas.installation.system import SystemHistory
from api.web.live.cluster_status import ClusterStatus

log = structlog.get_logger()

EVERY_SECONDS = 10.0
SAMPLES = 360
"""An hour."""
WATCHED_SECONDS = 60.0
"""Ray is asked for every sample, which is work for a train worker, only while somebody has looked so recently."""
UNWATCHED_SECONDS = 60.0
"""Else it is asked so seldom, and the samples between repeat its answer: who looks later sees the whole hour."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was measured at one moment."""

    at: datetime
    cpu: float
    memory: float
    reserved_cpus: float | None = None
    queues: dict[str, int] = field(default_factory=dict)


class HistorySampler:
    """Samples until cancelled, and answers with what it has."""

    def __init__(self, cluster: ClusterStatus) -> None:
        self._cluster = cluster
        self._samples: deque[Sample] = deque(maxlen=SAMPLES)
        self._asked_at: datetime | None = None
        self._ray_asked_at: datetime | None = None
        self._reserved_cpus: float | None = None

    async def run(self) -> None:
        psutil.cpu_percent()  # the first call has nothing to compare with
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            try:
                self.add(await self.sample(datetime.now(UTC)))
            except Exception as error:  # a part that is down must not end the history of the others
                log.debug("no sample of the system", error=type(error).__name__)

    def add(self, sample: Sample) -> None:
        """Keep a sample; the oldest one goes when there are too many."""
        self._samples.append(sample)

    def history(self, now: datetime | None = None) -> SystemHistory:
        """All samples, oldest first."""
        self._asked_at = now or datetime.now(UTC)
        samples = list(self._samples)
        names = sorted({name for sample in samples for name in sample.queues})
        return SystemHistory(
            every_seconds=EVERY_SECONDS,
            at=[sample.at for sample in samples],
            cpu=[sample.cpu for sample in samples],
            memory=[sample.memory for sample in samples],
            reserved_cpus=[sample.reserved_cpus for sample in samples],
            queues={name: [sample.queues.get(name) for sample in samples] for name in names},
        )

    async def sample(self, now: datetime) -> Sample:
        """What is measured now; Ray's answer may be a minute old."""
        task_queues = (await self._cluster.task_queues()).value
        return Sample(
            at=now,
            cpu=psutil.cpu_percent() / 100,
            memory=psutil.virtual_memory().percent / 100,
            reserved_cpus=await self._reserved(now),
            queues={} if task_queues is None else {str(queue.name): queue.backlog for queue in task_queues.queues},
        )

    async def _reserved(self, now: datetime) -> float | None:
        watched = _is_within(WATCHED_SECONDS, self._asked_at, now)
        if watched or not _is_within(UNWATCHED_SECONDS, self._ray_asked_at, now):
            self._ray_asked_at = now
            ray = (await self._cluster.ray()).value
            self._reserved_cpus = None if ray is None else max(0.0, ray.cpus - ray.cpus_available)
        return self._reserved_cpus


def _is_within(seconds: float, moment: datetime | None, now: datetime) -> bool:
    return moment is not None and (now - moment).total_seconds() < seconds
