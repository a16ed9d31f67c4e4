"""The train worker: serves the queues train, play and interactive, and is the driver that owns all Ray actors."""

from __future__ import annotations

import asyncio
import logging
import os
from datetime import timedelta

import ray
import structlog
from temporalio.worker import Worker

from orchestrator.contracts import Queue
from orchestrator.logs import LogContextInterceptor, configure_logs
from orchestrator.temporal import connect
from orchestrator.worker_process import run_workers
from workers.activities import SystemCheckActivities
from workers.settings import WorkerSettings

log = structlog.get_logger()


def connect_ray(settings: WorkerSettings) -> None:
    """Join the Ray cluster as a driver that fails fast: when the head is gone this process must end, not linger."""
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", "5")
    ray.init(address=settings.ray_address, log_to_driver=False, logging_level=logging.WARNING, configure_logging=False)


async def run_train_worker(settings: WorkerSettings) -> None:
    """Serve until stopped."""
    configure_logs(settings, role="train-worker")
    await asyncio.to_thread(connect_ray, settings)
    client = await connect(settings)
    checks = SystemCheckActivities()
    cpus = int(ray.cluster_resources().get("CPU", 1))
    log.info("ray joined", address=settings.ray_address, cpus=cpus)
    slots = {
        Queue.TRAIN: (settings.train_slots or max(1, cpus), [checks.check_train]),
        Queue.PLAY: (settings.play_slots, [checks.check_play]),
        Queue.INTERACTIVE: (settings.interactive_slots, [checks.check_interactive]),
    }
    workers = [
        Worker(
            client,
            task_queue=queue,
            activities=activities,
            max_concurrent_activities=count,
            interceptors=[LogContextInterceptor()],
            # the default throttles heartbeats, and with them the news of a cancellation, for many seconds
            max_heartbeat_throttle_interval=timedelta(seconds=1),
            graceful_shutdown_timeout=timedelta(seconds=5),
        )
        for queue, (count, activities) in slots.items()
    ]
    await run_workers(workers, role="train-worker")
