"""The web application: REST API and page. `create_app` makes it from settings; importing this module does nothing."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.metadata import version

from anyio import to_thread
from fastapi import FastAPI
from temporalio.client import Client

from api.addresses import read_networks
from api.settings import ApiSettings
from api.store.core.engine import Engine, connections_in_use, create_store_engine, database_url, session_factory
from api.web import routes
from api.web.auth.authentication import Authentication
from api.web.auth.failed_sign_ins import FailedSignIns
from api.web.auth.rate_limits import RateLimit
from api.web.auth.sessions import SessionSigner
from api.web.auth.tokens import TokenLookup
from api.web.live.cluster_status import ClusterStatus
from api.web.live.feed import EventFeed
from api.web.live.health_checks import HealthChecks
from api.web.live.open_streams import OpenStreams
from api.web.live.postgres_clock import PostgresClock
from api.web.live.progress import ProgressPoller
from api.web.live.system_history import HistorySampler
from api.web.middleware.caller_address import CallerAddress
from api.web.middleware.host_and_size import HostAndSizeChecks, allowed_hosts
from api.web.middleware.request_metrics import HttpMetrics, ObserveRequests
from api.web.middleware.tracing import TraceRequests
from api.web.openapi import install_openapi
from api.web.page_files import install_page
from api.web.problems import install_problem_handlers
from api.web.reports.payoff_documents import PayoffDocuments
from api.web.reports.tournament_cache import TournamentReports
from api.web.services import Services
from api.web.serving.server import raise_file_limit, serve, server_config
from api.web.temporal.reconcile import Reconciler
from api.web.temporal.schedules import TemporalSchedules
from api.web.temporal.start_workflows import PROBES, SWEEPS, TOURNAMENTS, TRIALS, WorkflowStarter
from api.web.tensorboard import install_tensorboard
from api.web.tensorboard_proxy import TensorBoardProxy
from api.web.uploads import Uploads
from api.web.validation.spec_reader import SpecReader
from orchestrator.logs import configure_logs
from orchestrator.sdk_metrics import SdkMetrics
from orchestrator.sealing import KeyUse
from orchestrator.search_attributes import SearchAttributeCheck
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.temporal import connect
from orchestrator.temporal.tls import explain_failure
from orchestrator.tracing import spans
from orchestrator.tracing.setup import start_tracing

SHUTDOWN_SECONDS = 3
THREADS = 4
"""Requests that read or write Postgres at once; further ones wait for a free thread."""
GC_THRESHOLDS = (2_000, 10, 300)
"""A full collection looks through all kept reports and payoffs, and halts all requests for up to 0.1 s: with a large
league it did so every few hundred requests, by Python's own thresholds (700, 10, 10), and found next to nothing."""


def create_app(settings: ApiSettings, temporal: Client | None = None) -> FastAPI:
    """The application for these settings; tests pass a Temporal client of their own."""
    signer = _signer(settings)
    app = FastAPI(
        title="Lanista",
        version=version("lanista"),
        summary="Durable league training for game-playing agents.",
        lifespan=lambda app: _run_services(app, settings, signer, temporal),
        openapi_url=None,  # install_openapi serves a completed document
        docs_url=None,  # FastAPI's page would load scripts from another host
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.metrics = HttpMetrics()
    app.state.calls = [route for router in routes.ROUTERS for route in router.routes]
    _add_middleware(app, settings, signer)
    install_problem_handlers(app)
    for router in routes.ROUTERS:
        app.include_router(router)
    install_tensorboard(app)
    install_openapi(app)
    install_page(app)
    return app


@asynccontextmanager
async def _run_services(
    app: FastAPI, settings: ApiSettings, signer: SessionSigner, temporal: Client | None
) -> AsyncIterator[None]:
    """Open the connections and start the background tasks of the API; close them at shutdown."""
    url = settings.database_url.get_secret_value()
    engine = create_store_engine(url, pool_size=settings.database_connections, application="lanista-api")
    sdk = SdkMetrics(app.state.metrics.registry) if temporal is None else None
    client = temporal or await connect(settings, keys=KeyUse, lazy=True, runtime=sdk.runtime if sdk else None)
    # few threads on purpose: more of them only compete for the GIL, with each other and with the event loop
    to_thread.current_default_thread_limiter().total_tokens = THREADS
    services = make_services(settings, engine, client, signer)
    app.state.services = services
    app.state.readiness = HealthChecks(engine, client, settings.ray_address, partial(explain_failure, settings))
    poller = ProgressPoller(services.sessions, client, services.feed)
    tasks = [
        asyncio.create_task(work.run()) for work in (services.feed, poller, Reconciler(services), services.history)
    ]
    if sdk is not None:
        tasks.append(asyncio.create_task(sdk.run()))
    # written ahead, so that the first request for it need not wait
    tasks.append(asyncio.create_task(asyncio.to_thread(app.state.write_openapi)))
    try:
        yield
    finally:
        services.feed.close()
        await services.spec_reader.close()
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        if services.tensorboard is not None:
            await services.tensorboard.close()
        await _close(engine)


async def _close(engine: Engine) -> None:
    """Close all connections, once the threads of cancelled tasks have returned theirs."""
    for _ in range(100 * SHUTDOWN_SECONDS):
        if not connections_in_use(engine):
            break
        await asyncio.sleep(0.01)
    engine.dispose()


def make_services(settings: ApiSettings, engine: Engine, temporal: Client, signer: SessionSigner) -> Services:
    """The services that routes work with."""
    sessions = session_factory(engine)
    attributes = SearchAttributeCheck(temporal)
    artifacts = ArtifactStore(settings.artifacts)
    url = database_url(settings.database_url.get_secret_value()).set(drivername="postgresql")
    cluster = ClusterStatus(temporal)
    return Services(
        settings=settings,
        engine=engine,
        sessions=sessions,
        temporal=temporal,
        tokens=TokenLookup(sessions),
        signer=signer,
        trial_starter=WorkflowStarter(TRIALS, sessions, temporal, attributes),
        tournament_starter=WorkflowStarter(TOURNAMENTS, sessions, temporal, attributes),
        sweep_starter=WorkflowStarter(SWEEPS, sessions, temporal, attributes),
        probe_starter=WorkflowStarter(PROBES, sessions, temporal, attributes),
        schedules=TemporalSchedules(sessions, temporal, attributes),
        feed=EventFeed(url.render_as_string(hide_password=False)),
        payoffs=PayoffDocuments(sessions),
        reports=TournamentReports(),
        artifacts=artifacts,
        uploads=Uploads(artifacts, at_once=settings.uploads_at_once, min_free_bytes=settings.min_free_bytes),
        cluster=cluster,
        postgres_clock=PostgresClock(engine),
        history=HistorySampler(cluster),
        streams=OpenStreams(settings.streams_per_token),
        tensorboard=TensorBoardProxy(settings.tensorboard_upstream) if settings.tensorboard_upstream else None,
        spec_reader=SpecReader(settings.max_trial_bytes),
    )


TRIAL_PATHS = ("/api/v1/trials", "/api/v1/trials/validate", "/api/v1/sweeps", "/api/v1/sweeps/validate")
"""Where whole trial files are sent."""


def _add_middleware(app: FastAPI, settings: ApiSettings, signer: SessionSigner) -> None:
    """The middleware added last sees a request first."""
    app.state.failed_sign_ins = FailedSignIns(settings.failed_sign_ins)
    app.add_middleware(
        Authentication,
        signer=signer,
        requests=RateLimit(settings.rate_limit, settings.rate_burst),
        failures=app.state.failed_sign_ins,
    )
    app.add_middleware(
        HostAndSizeChecks,
        hosts=allowed_hosts(settings.host, settings.allowed_hosts),
        max_body=settings.max_body_bytes,
        limits={
            "/api/v1/versions": settings.max_upload_bytes,
            # twice the text, because JSON escapes it
            **dict.fromkeys(TRIAL_PATHS, 2 * settings.max_trial_bytes),
        },
    )
    app.add_middleware(ObserveRequests, metrics=app.state.metrics)
    if spans.tracing():
        app.add_middleware(TraceRequests)
    app.add_middleware(CallerAddress, trusted=read_networks(settings.trusted_proxies))


def _signer(settings: ApiSettings) -> SessionSigner:
    secret = settings.session_secret
    return SessionSigner(secret.get_secret_value() if secret else None, int(settings.session_hours * 3600))


def run_api(settings: ApiSettings) -> None:
    """Serve until the process is stopped."""
    configure_logs(settings, role="api")
    start_tracing(settings, role="api")
    with spans.closing():
        _serve(settings)


def _serve(settings: ApiSettings) -> None:
    app = create_app(settings)
    # imported modules are never garbage: without the freeze a collection that scans them halts all requests for 0.2 s
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    raise_file_limit(settings.max_connections)
    serve(server_config(app, settings, shutdown_seconds=SHUTDOWN_SECONDS))
