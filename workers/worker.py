"""The train worker: serves the queues train, play and interactive, and is the Ray driver that owns all actors."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import ray
import structlog
from temporalio.client import Client
from temporalio.worker import Worker

from orchestrator.contracts import Queue
from orchestrator.logs import LogContextInterceptor, configure_logs
from orchestrator.sdk_metrics import serving_runtime
from orchestrator.sealing import KeyUse
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.temporal import connect
from orchestrator.user_code.code_importing import import_archives_from
from orchestrator.worker_process import run_workers
from workers.activities.charts import ChartActivities
from workers.activities.gateways import GatewayActivities
from workers.activities.interactive import InteractiveActivities
from workers.activities.nash_conv import NashConvActivities
from workers.activities.playing import PlayActivities
from workers.activities.system import SystemCheckActivities
from workers.activities.training import TrainingActivities, WeightsActivities
from workers.crews.hosts.cpu_ledger import CpuLedger
from workers.crews.pool import CrewPool
from workers.settings import WorkerSettings

log = structlog.get_logger()


def connect_ray(settings: WorkerSettings) -> None:
    """Join the Ray cluster as a driver that fails fast: when the head is gone this process must end, not linger."""
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", "5")
    ray.init(address=settings.ray_address, log_to_driver=False, logging_level=logging.WARNING, configure_logging=False)


def ray_cpus() -> int:
    """The CPUs of the Ray cluster now; nodes come and go."""
    return int(ray.cluster_resources().get("CPU", 0))


def buffer_bytes(settings: WorkerSettings) -> int:
    """Memory for the buffers of all crews; a quarter of this machine's where the setting says 0."""
    if settings.buffer_memory_mb:
        return settings.buffer_memory_mb << 20
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


async def wait_for_cpus(count: Callable[[], int] = ray_cpus, *, patience: float = 60.0, settled: float = 3.0) -> int:
    """Wait for Ray's CPUs: after a reboot nodes may join later than this worker. Logs a warning while it waits."""
    cpus = await asyncio.to_thread(count)
    if cpus:
        return cpus
    log.warning("ray has no CPUs yet; waiting for them", at_most_seconds=patience)
    began = changed = time.monotonic()
    while not cpus or time.monotonic() - changed < settled:
        if time.monotonic() - began > patience:
            break
        await asyncio.sleep(min(0.5, settled / 2))
        if (found := await asyncio.to_thread(count)) != cpus:
            cpus, changed = found, time.monotonic()
    if not cpus:
        log.warning("ray has no CPUs; one generation at a time is tried until a node joins", waited_seconds=patience)
    return cpus


def train_activities(
    settings: WorkerSettings, cpus: int, count: Callable[[], int] = ray_cpus
) -> dict[Queue, tuple[int, list[Callable[..., Any]]]]:
    """For each queue its slots and its activities. No more generations at once than Ray has CPUs for."""
    slots = settings.train_slots or max(1, cpus)
    store = ArtifactStore(settings.artifacts)
    import_archives_from(store)
    checks = SystemCheckActivities()
    crews = CrewPool(
        store,
        CpuLedger(count, slots),
        max_idle=slots,
        idle_seconds=settings.crew_idle_seconds,
        buffer_bytes=buffer_bytes(settings),
        data_folders=settings.imports,
        gateways=settings.gateway_access,
    )
    training = TrainingActivities(store, crews, settings.gateway_access)
    playing = PlayActivities(settings.artifacts, settings.gateway_access)
    weights = WeightsActivities(store, settings.imports)
    interactive = InteractiveActivities(store, settings.imports, buffer_bytes(settings))
    charts = ChartActivities(settings.tensorboard_dir)
    return {
        Queue.TRAIN: (slots, [checks.check_train, training.train_generation]),
        Queue.PLAY: (settings.play_slots, [checks.check_play, playing.play_games]),
        Queue.INTERACTIVE: (
            settings.interactive_slots,
            [
                checks.check_interactive,
                checks.describe_ray,
                GatewayActivities(settings.gateway_access).describe_gateways,
                weights.make_initial_weights,
                charts.chart_generation,
                interactive.render_replay,
                interactive.draw_recorded_game,
                interactive.choose_move,
                interactive.check_component,
                interactive.import_weights,
                NashConvActivities(store).compute_nash_conv,
            ],
        ),
    }


async def run_train_worker(settings: WorkerSettings) -> None:
    """Serve until stopped."""
    configure_logs(settings, role="train-worker")
    await asyncio.to_thread(connect_ray, settings)
    cpus = await wait_for_cpus()
    log.info("ray joined", address=settings.ray_address, cpus=cpus)
    runtime = serving_runtime(settings.train_metrics_address, "LANISTA_TRAIN_METRICS_ADDRESS")
    client = await connect(settings, keys=[KeyUse.TRAIN], serves=True, runtime=runtime)
    served = train_activities(settings, cpus)
    with ThreadPoolExecutor(sum(count for count, _ in served.values()), "activity") as threads:
        workers = [_worker(client, queue, *serves, threads) for queue, serves in served.items()]
        await run_workers(workers, role="train-worker")


def _worker(
    client: Client, queue: Queue, slots: int, activities: list[Callable[..., Any]], threads: ThreadPoolExecutor
) -> Worker:
    return Worker(
        client,
        task_queue=queue,
        activities=activities,
        activity_executor=threads,
        max_concurrent_activities=slots,
        interceptors=[LogContextInterceptor()],
        # by default heartbeats, and with them cancellations, are throttled for many seconds
        max_heartbeat_throttle_interval=timedelta(seconds=1),
        default_heartbeat_throttle_interval=timedelta(seconds=1),
        graceful_shutdown_timeout=timedelta(seconds=5),
    )
