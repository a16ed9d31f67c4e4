"""The store worker: runs all workflows and every activity that uses Postgres."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from api.activities import store_activities
from api.alerts.delivery import AlertDelivery
from api.settings import StoreSettings
from api.store.core.engine import create_store_engine, session_factory
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
from orchestrator.workflows.gate import GateWorkflow
from orchestrator.workflows.player import PlayerWorkflow
from orchestrator.workflows.probe import ProbeWorkflow
from orchestrator.workflows.sweep import SweepWorkflow
from orchestrator.workflows.system_check import SystemCheckWorkflow
from orchestrator.workflows.tournament import TournamentWorkflow
from orchestrator.workflows.trial import TrialWorkflow

WORKFLOWS = [
    SystemCheckWorkflow,
    TrialWorkflow,
    PlayerWorkflow,
    GateWorkflow,
    TournamentWorkflow,
    SweepWorkflow,
    ProbeWorkflow,
]


PASSED_THROUGH = ("pydantic", "orchestrator.contracts", "orchestrator.catalog", "league")
"""Modules that are loaded once, not for each workflow: inside the sandbox pydantic makes a start several times slower
and cannot resolve the types of messages. Only orchestrator.workflows is sandboxed."""

STICKY_WITHIN = timedelta(seconds=2)
"""How long a workflow's next step waits for the worker that has the workflow in memory, before others may take it and
replay the history. After its worker died every workflow waits so long; Temporal's default is 10 s."""


def sandbox() -> SandboxedWorkflowRunner:
    """Temporal's workflow sandbox; the message types are passed through."""
    return SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))


async def run_store_worker(settings: StoreSettings) -> None:
    """Serve until stopped."""
    retract_ready()
    configure_logs(settings, role="store-worker")
    start_tracing(settings, role="store-worker")
    with closing():
        await _serve(settings)


async def _serve(settings: StoreSettings) -> None:
    engine = create_store_engine(settings.database_url.get_secret_value(), pool_size=settings.store_slots)
    artifacts = ArtifactStore(settings.artifacts)
    import_archives_from(artifacts)  # matchmakers of users' own
    runtime = serving_runtime(settings.store_metrics_address, "LANISTA_STORE_METRICS_ADDRESS")
    client = await connect(settings, keys=KeyUse, serves=True, runtime=runtime)
    deployment = Deployment.of(settings, "store")
    with ThreadPoolExecutor(settings.store_slots, thread_name_prefix="store") as threads:
        workers = [
            Worker(
                client,
                task_queue=Queue.LEAGUE,
                workflows=WORKFLOWS,
                workflow_runner=sandbox(),
                sticky_queue_schedule_to_start_timeout=STICKY_WITHIN,
                deployment_config=deployment.config(workflows=True) if deployment else None,
            ),
            Worker(
                client,
                task_queue=Queue.STORE,
                activities=store_activities(
                    engine,
                    artifacts,
                    stall_seconds=settings.stall_seconds,
                    retention=settings.retention,
                    moves_age=settings.moves_age,
                ),
                activity_executor=threads,
                max_concurrent_activities=settings.store_slots,
                interceptors=[LogContextInterceptor()],
                graceful_shutdown_timeout=timedelta(seconds=5),
                deployment_config=deployment.config() if deployment else None,
            ),
        ]
        alerts = asyncio.create_task(AlertDelivery(session_factory(engine), settings).run())
        left = asyncio.create_task(fail_left_behind(client))
        await run_workers(workers, role="store-worker", settle=partial(settle, client, settings, "store"))
        alerts.cancel()
        left.cancel()
    engine.dispose()
