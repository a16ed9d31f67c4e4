"""The train worker: serves the queues train, play and interactive, and is the Ray driver that owns all actors."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import ray
import structlog
from temporalio.client import Client
from temporalio.worker import FixedSizeSlotSupplier, Worker, WorkerTuner

from orchestrator.contracts import Queue
from orchestrator.left_activities import fail_left_behind
from orchestrator.logs import LogContextInterceptor, configure_logs
from orchestrator.sdk_metrics import serving_runtime
from orchestrator.sealing import KeyUse
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.temporal import connect
from orchestrator.temporal.deployment import Deployment, settle
from orchestrator.tracing.setup import start_tracing
from orchestrator.tracing.spans import closing
from orchestrator.user_code.code_importing import import_archives_from
from orchestrator.worker_process import retract_ready, run_workers
from workers.activities.charts import ChartActivities
from workers.activities.gateways import GatewayActivities
from workers.activities.interactive import InteractiveActivities
from workers.activities.nash_conv import NashConvActivities
from workers.activities.playing import PlayActivities
from workers.activities.system import SystemCheckActivities
from workers.activities.training import TrainingActivities, WeightsActivities
from workers.cluster.labels import parse_labels
from workers.cluster.node_survey import NodeSurveyor
from workers.cluster.ray_view import RayView
from workers.cluster.slots import ClusterSlots
from workers.cluster.survey import AUTOSCALING_EVERY_SECONDS, EVERY_SECONDS, ClusterSurvey
from workers.cluster.watch import ClusterWatch
from workers.crews.hosts.cpu_ledger import MOST_SLOTS, CpuLedger
from workers.crews.pool import CrewPool
from workers.settings import WorkerSettings

log = structlog.get_logger()

Slots = int | Callable[[], int]
"""How many activities of a queue are under way at once; asked again and again where it is a function."""


def connect_ray(settings: WorkerSettings) -> None:
    """Join the Ray cluster as a driver that fails fast: when the head is gone this process must end, not linger."""
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", "5")
    ray.init(address=settings.ray_address, log_to_driver=False, logging_level=logging.WARNING, configure_logging=False)


def buffer_bytes(settings: WorkerSettings) -> int:
    """Memory for the buffers of all crews; a quarter of this machine's where the setting says 0."""
    if settings.buffer_memory_mb:
        return settings.buffer_memory_mb << 20
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4


def train_activities(
    settings: WorkerSettings, store: ArtifactStore, cluster: ClusterWatch, survey: ClusterSurvey
) -> dict[Queue, tuple[Slots, list[Callable[..., Any]]]]:
    """For each queue its slots and its activities. No more generations at once than Ray has CPUs for."""

    def cpus() -> float:
        return max(cluster.cpus, settings.ray_max_cpus)

    slots: Slots = settings.train_slots or (lambda: max(1, int(cpus())))
    import_archives_from(store)
    checks = SystemCheckActivities(cluster, survey)
    crews = CrewPool(
        store,
        CpuLedger(cpus, slots),
        max_idle=settings.train_slots or MOST_SLOTS,
        idle_seconds=settings.crew_idle_seconds,
        buffer_bytes=buffer_bytes(settings),
        data_folders=settings.imports,
        gateways=settings.gateway_access,
        cluster=cluster,
        autoscales=settings.ray_max_cpus > 0,
    )
    training = TrainingActivities(store, crews, settings.gateway_access)
    playing = PlayActivities(settings.artifacts, settings.gateway_access, cluster)
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
                interactive.name_moves,
                interactive.draw_recorded_game,
                interactive.choose_move,
                interactive.check_component,
                interactive.import_weights,
                NashConvActivities(store).compute_nash_conv,
            ],
        ),
    }


async def wait_for_cpus(cluster: ClusterWatch, patience: float = 60.0) -> None:
    """Wait until a node may run work: those of other hosts are checked first, and a generation taken now would fail."""
    deadline = time.monotonic() + patience
    while not cluster.cpus:
        if time.monotonic() > deadline:
            log.warning(
                "ray has no CPUs; one generation at a time is tried until a node joins", waited_seconds=patience
            )
            return
        await asyncio.sleep(0.5)


async def run_train_worker(settings: WorkerSettings) -> None:
    """Serve until stopped."""
    retract_ready()
    configure_logs(settings, role="train-worker")
    start_tracing(settings, role="train-worker")
    with closing():
        await _serve(settings)


async def _serve(settings: WorkerSettings) -> None:
    await asyncio.to_thread(connect_ray, settings)
    store = ArtifactStore(settings.artifacts)
    cluster = ClusterWatch(RayView(store), parse_labels(settings.ray_labels))
    await asyncio.to_thread(cluster.start)
    every = AUTOSCALING_EVERY_SECONDS if settings.ray_max_cpus else EVERY_SECONDS
    survey = ClusterSurvey(cluster, NodeSurveyor(store), settings.gateway_access.addresses, every)
    survey.start()
    await wait_for_cpus(cluster)
    log.info("ray joined", address=settings.ray_address, cpus=cluster.cpus)
    runtime = serving_runtime(settings.train_metrics_address, "LANISTA_TRAIN_METRICS_ADDRESS")
    client = await connect(settings, keys=[KeyUse.TRAIN], serves=True, runtime=runtime)
    served = train_activities(settings, store, cluster, survey)
    most = sum(MOST_SLOTS if callable(slots) else slots for slots, _ in served.values())
    with ThreadPoolExecutor(most, "activity") as threads:
        deployment = Deployment.of(settings, "train")
        workers = [_worker(client, queue, *serves, threads, deployment) for queue, serves in served.items()]
        left = asyncio.create_task(fail_left_behind(client))
        await run_workers(workers, role="train-worker", settle=partial(settle, client, settings, "train"))
        left.cancel()


def _worker(
    client: Client,
    queue: Queue,
    slots: Slots,
    activities: list[Callable[..., Any]],
    threads: ThreadPoolExecutor,
    deployment: Deployment | None,
) -> Worker:
    # a tuner must name the slots of everything, of which only the activities' are used
    fixed = FixedSizeSlotSupplier(1)
    supplier = ClusterSlots(slots) if callable(slots) else FixedSizeSlotSupplier(slots)
    return Worker(
        client,
        task_queue=queue,
        activities=activities,
        activity_executor=threads,
        tuner=WorkerTuner.create_composite(
            workflow_supplier=fixed, activity_supplier=supplier, local_activity_supplier=fixed, nexus_supplier=fixed
        ),
        interceptors=[LogContextInterceptor()],
        deployment_config=deployment.config() if deployment else None,
        # by default heartbeats, and with them cancellations, are throttled for many seconds
        max_heartbeat_throttle_interval=timedelta(seconds=1),
        default_heartbeat_throttle_interval=timedelta(seconds=1),
        graceful_shutdown_timeout=timedelta(seconds=5),
    )
