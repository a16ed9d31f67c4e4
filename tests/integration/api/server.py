"""A real API on a real port, beside a real Temporal server and the store worker's workflows."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import threading
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from sqlalchemy.orm import Session, sessionmaker
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Worker

from api.activities import store_activities
from api.schemas.enums import Scope
from api.settings import ApiSettings
from api.store.access.tokens import add_token
from api.store.core.engine import create_store_engine, session_factory
from api.web.app import create_app
from api.web.auth.tokens import new_token, token_hash
from api.web.live import cluster_status, health_checks
from api.web.serving.server import server_config
from api.web.temporal import ask_worker, schedules, start_workflows
from api.web.temporal import messages as updates
from api.worker import WORKFLOWS, sandbox
from lanista.stack.ports import unused_port
from orchestrator.contracts.queues import Queue
from orchestrator.storage.artifacts import ArtifactStore
from tests.integration.api.stand_ins import interactive
from tests.integration.temporal import TEMPORAL, UNBRAKED

PATIENCE = 120
PLAIN: dict[str, Any] = {"timeout": 90, "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
"""Options of every connection: patience, and no certificates, which take longer to load than most tests to run."""


@contextmanager
def running_temporal() -> Iterator[str]:
    """A dev server in memory; yields its address."""
    port = unused_port()
    command = [TEMPORAL, "server", "start-dev", "--headless", "--ip", "127.0.0.1", *UNBRAKED]
    process = subprocess.Popen(
        [*map(str, command), "--port", str(port), "--log-level", "never"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"127.0.0.1:{port}"
    try:
        _until_it_answers(address)
        yield address
    finally:
        process.terminate()
        process.wait()


def _until_it_answers(address: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            asyncio.run(Client.connect(address))
            return
        except RuntimeError:
            assert time.monotonic() < deadline, "Temporal did not start"
            time.sleep(0.1)


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@contextmanager
def running_store_worker(address: str, url: str, folder: Path) -> Iterator[None]:
    """The store worker's workflows and activities; stand-ins answer for the train worker."""
    thread = LoopThread()
    engine = create_store_engine(url, pool_size=10)
    artifacts = ArtifactStore(str(folder))

    async def start() -> tuple[Client, list[Worker]]:
        client = await Client.connect(address, data_converter=pydantic_data_converter)
        workers = [
            Worker(client, task_queue=Queue.LEAGUE, workflows=WORKFLOWS, workflow_runner=sandbox()),
            Worker(
                client,
                task_queue=Queue.STORE,
                activities=store_activities(engine, artifacts),
                activity_executor=threads,
                max_concurrent_activities=8,
            ),
            Worker(client, task_queue=Queue.INTERACTIVE, activities=interactive(artifacts)),
        ]
        return client, [asyncio.create_task(worker.run()) and worker for worker in workers]

    async def stop(workers: list[Worker]) -> None:
        await asyncio.gather(*(worker.shutdown() for worker in workers))

    with ThreadPoolExecutor(10) as threads:
        _, workers = thread.run(start())
        try:
            yield
        finally:
            thread.run(stop(workers))
            thread.close()
            engine.dispose()


@contextmanager
def patient_api() -> Iterator[None]:
    """Nobody waits at these APIs: what a machine that stands still for a while does not answer in time is no outage."""
    minute = timedelta(seconds=60)
    with pytest.MonkeyPatch.context() as patches:
        for module in (cluster_status, schedules, start_workflows):
            patches.setattr(module, "RPC_TIMEOUT", minute)
        patches.setattr(ask_worker, "START_TIMEOUT", minute)
        patches.setattr(cluster_status, "WAIT_SECONDS", 30.0)
        for waiting in (health_checks, updates):
            patches.setattr(waiting, "TIMEOUT_SECONDS", 60.0)
        yield


@dataclass(frozen=True)
class Served:
    """A running API, and a token of each scope."""

    base: str
    tokens: dict[Scope, str]
    sessions: sessionmaker[Session]
    settings: ApiSettings
    temporal_address: str

    def client(self, scope: Scope | None = Scope.ADMIN, **options: Any) -> httpx.Client:
        headers = {} if scope is None else {"Authorization": f"Bearer {self.tokens[scope]}"}
        return httpx.Client(base_url=self.base, headers=headers, **PLAIN | options)


@contextmanager
def running_api(url: str, temporal_address: str, folder: Path, **settings: Any) -> Iterator[Served]:
    """Serve the application from a thread, with limits that tests do not run into unless they ask to."""
    port = unused_port()
    values = {
        "rate_limit": 0.0,
        "failed_sign_ins": 0.0,
        "reconcile_seconds": 3600.0,
        "temporal_sealed": False,
    } | settings
    configured = ApiSettings(
        database_url=url, temporal_address=temporal_address, artifacts=str(folder), port=port, **values
    )
    engine = create_store_engine(url)
    server = uvicorn.Server(server_config(create_app(configured), configured, shutdown_seconds=1))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + PATIENCE
        while not server.started:
            assert time.monotonic() < deadline and thread.is_alive(), "the API did not start"
            time.sleep(0.01)
        sessions = session_factory(engine)
        yield Served(f"http://127.0.0.1:{port}", make_tokens(sessions), sessions, configured, temporal_address)
    finally:
        server.should_exit = True
        thread.join()
        engine.dispose()


def make_tokens(sessions: sessionmaker[Session]) -> dict[Scope, str]:
    tokens = {scope: new_token() for scope in Scope}
    with sessions.begin() as session:
        for scope, token in tokens.items():
            add_token(session, name=f"a {scope}", scope=scope, sha256=token_hash(token))
    return tokens
