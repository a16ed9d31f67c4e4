"""Health checks of the machine and of each part, with advice on how to fix what is wrong."""

from __future__ import annotations

import asyncio
import getpass
import os
import platform
import shutil
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from importlib.metadata import version

import httpx
import psutil
import psycopg
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, GetSystemInfoRequest
from temporalio.client import Client

from api.store.core.clock import postgres_skew
from api.store.core.engine import create_store_engine, database_url, session_factory
from api.store.core.installation import check_no_other_installation
from lanista.checks.finding import Finding
from lanista.checks.hosts import examine_hosts
from lanista.checks.system_check import check_system
from lanista.settings import StackSettings
from lanista.stack import control as remote
from lanista.stack.errors import StackError
from lanista.stack.home import Home
from lanista.stack.processes.worker_user import AS_ROOT
from lanista.stack.temporal_keys import TemporalKeys
from orchestrator.clock_skew import Skew, skew_text
from orchestrator.contracts import Queue
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.storage.uris import without_secrets
from orchestrator.temporal import connect

MINIMUM_DISK_GB = 2.0
MINIMUM_MEMORY_GB = 2.0
TIMEOUT = 5.0
WORKFLOW_TIMEOUT = 60.0
"""A check through Ray may wait for a new Ray process that imports torch."""


async def examine(settings: StackSettings) -> list[Finding]:
    """All findings: the machine first, then each part of the running stack."""
    home = Home(settings.home)
    findings = [_python(), _packages(), _disk(home), _memory(), _supervisor(home), _user_code(settings)]
    try:
        environment = remote.reach(home)
    except StackError as error:
        return [*findings, Finding("parts", False, str(error), "lanista up")]
    checks: dict[str, tuple[Callable[[dict[str, str]], Awaitable[str]], str]] = {
        "postgres": (_postgres, "lanista status; the log is logs/postgres.log; or check LANISTA_DATABASE_URL"),
        "clocks": (_clocks, "run an NTP client, such as chrony, on both machines; see docs/guides/runbook.md"),
        "artifacts": (_artifacts, "see docs/guides/durability.md, Garbage; or check LANISTA_ARTIFACTS"),
        "temporal": (_temporal, "lanista status; the log is logs/temporal.log; or check LANISTA_TEMPORAL_ADDRESS"),
        "store worker": (_store_worker, "lanista status; the log is logs/store-worker.log"),
        "train worker": (_train_worker, "lanista status; the log is logs/train-worker.log"),
        "ray": (_ray, "lanista status; the log is logs/ray.log; or check RAY_ADDRESS"),
        "api": (_api, "lanista status; the log is logs/api.log"),
        "tensorboard": (_tensorboard, "lanista status; the log is logs/tensorboard.log"),
    }
    answers = await asyncio.gather(*(_attempt(name, *check, environment) for name, check in checks.items()))
    return [*findings, *answers, *await _hosts(environment)]


async def _hosts(environment: dict[str, str]) -> list[Finding]:
    """What is wrong with each host; the parts themselves were found working, or not, before."""
    try:
        client, postgres = await asyncio.gather(_client(environment), _postgres_skew(environment))
        return await examine_hosts(client, postgres)
    except Exception as error:  # said already of the part that does not answer
        return [Finding("hosts", False, f"not known: {type(error).__name__}", "see the lines above")]


async def _attempt(
    part: str, check: Callable[[dict[str, str]], Awaitable[str]], mend: str, environment: dict[str, str]
) -> Finding:
    patience = WORKFLOW_TIMEOUT if check is _ray else TIMEOUT * 3
    try:
        return Finding(part, True, await asyncio.wait_for(check(environment), patience))
    except TimeoutError:
        return Finding(part, False, f"no answer within {patience:g} s", mend)
    except Exception as error:  # any failure of a part is a finding, not an error of this command
        first_line = str(error).strip().splitlines()[:1]
        return Finding(part, False, f"{type(error).__name__}: {''.join(first_line)}", mend)


def _user_code(settings: StackSettings) -> Finding:
    """Who runs user code; root's stack works without a user for it, so that this is advice and no failure."""
    if settings.worker_user:
        return Finding("user code", True, f"runs as {settings.worker_user}")
    who = getpass.getuser()
    return Finding("user code", True, f"warning: {AS_ROOT}" if os.getuid() == 0 else f"runs as {who}, like the stack")


def _python() -> Finding:
    good = sys.version_info >= (3, 11)
    return Finding("python", good, platform.python_version(), "" if good else "Install Python 3.11 or newer.")


def _packages() -> Finding:
    names = ("lanista", "temporalio", "ray", "torch", "sqlalchemy", "fastapi")
    return Finding("packages", True, ", ".join(f"{name} {version(name)}" for name in names))


def _disk(home: Home) -> Finding:
    place = next(folder for folder in (home.root, *home.root.parents) if folder.exists())
    free = shutil.disk_usage(place).free / 1e9
    good = free >= MINIMUM_DISK_GB
    mend = "" if good else f"Free at least {MINIMUM_DISK_GB:g} GB, or set LANISTA_HOME to a larger disk."
    return Finding("disk", good, f"{free:.1f} GB free for {home.root}", mend)


def _memory() -> Finding:
    available = psutil.virtual_memory().available / 1e9
    good = available >= MINIMUM_MEMORY_GB
    mend = "" if good else f"Free at least {MINIMUM_MEMORY_GB:g} GB, or lower LANISTA_RAY_OBJECT_STORE_MB."
    return Finding("memory", good, f"{available:.1f} GB available", mend)


def _supervisor(home: Home) -> Finding:
    if home.is_supervised():
        return Finding("supervisor", True, f"running with the data folder {home.root}")
    left = len(remote.orphans(home))
    detail = f"not running, but {left} of its processes are" if left else "not running"
    return Finding("supervisor", False, detail, "lanista up")


async def _postgres(environment: dict[str, str]) -> str:
    url = database_url(environment["LANISTA_DATABASE_URL"]).set(drivername="postgresql")

    def ask() -> str:
        with psycopg.connect(url.render_as_string(hide_password=False), connect_timeout=int(TIMEOUT)) as connection:
            row = connection.execute("SELECT current_setting('server_version'), version_num FROM alembic_version")
            server, schema = row.fetchone() or ("?", "none")
        return f"PostgreSQL {server}, schema {schema}"

    return await asyncio.to_thread(ask)


async def _clocks(environment: dict[str, str]) -> str:
    """The clock of Postgres' machine against this one's."""
    skew = await _postgres_skew(environment)
    if skew.too_large:
        raise StackError(skew_text("Postgres", skew.ahead))
    return skew_text("Postgres", skew.ahead)


async def _postgres_skew(environment: dict[str, str]) -> Skew:
    def ask() -> Skew:
        engine = create_store_engine(environment["LANISTA_DATABASE_URL"], pool_size=1)
        try:
            return postgres_skew(engine)
        finally:
            engine.dispose()

    return await asyncio.to_thread(ask)


async def _artifacts(environment: dict[str, str]) -> str:
    def ask() -> str:
        engine = create_store_engine(environment["LANISTA_DATABASE_URL"], pool_size=1)
        try:
            with session_factory(engine)() as session:
                own = check_no_other_installation(session, ArtifactStore(environment["LANISTA_ARTIFACTS"]))
        finally:
            engine.dispose()
        return f"{without_secrets(environment['LANISTA_ARTIFACTS'])} is used by this installation ({own}) alone"

    return await asyncio.to_thread(ask)


async def _client(environment: dict[str, str]) -> Client:
    settings = StackSettings.load(home=environment["LANISTA_HOME"])
    keys = TemporalKeys(settings, Home(settings.home))
    return await connect(keys.connection(environment["LANISTA_TEMPORAL_ADDRESS"]))


async def _temporal(environment: dict[str, str]) -> str:
    client = await _client(environment)
    info = await client.workflow_service.get_system_info(GetSystemInfoRequest())
    return f"Temporal {info.server_version} at {environment['LANISTA_TEMPORAL_ADDRESS']}"


async def _store_worker(environment: dict[str, str]) -> str:
    return await _pollers(environment, {Queue.LEAGUE: "workflow", Queue.STORE: "activity"})


async def _train_worker(environment: dict[str, str]) -> str:
    return await _pollers(environment, dict.fromkeys((Queue.TRAIN, Queue.PLAY, Queue.INTERACTIVE), "activity"))


async def _pollers(environment: dict[str, str], queues: dict[Queue, str]) -> str:
    """Checks that each queue has pollers: a queue without any has no running worker."""
    client = await _client(environment)
    kinds = {
        "workflow": TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
        "activity": TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
    }
    for queue, kind in queues.items():
        request = DescribeTaskQueueRequest(
            namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kinds[kind]
        )
        answer = await client.workflow_service.describe_task_queue(request)
        if not answer.pollers:
            raise StackError(f"no worker serves the queue {queue}")
    return "serves " + ", ".join(queues)


async def _ray(environment: dict[str, str]) -> str:
    report = await check_system(await _client(environment), patience=timedelta(seconds=WORKFLOW_TIMEOUT))
    return next(part.detail for part in report.parts if part.part == "train")


async def _api(environment: dict[str, str]) -> str:
    page = environment["LANISTA_URL"]
    async with httpx.AsyncClient(timeout=TIMEOUT) as client:
        answer = (await client.get(f"{page}/readyz")).json()
    away = [name for name, part in answer["parts"].items() if not part["ok"]]
    if away:
        raise StackError(f"{page} answers, but cannot reach {', '.join(away)}")
    return f"{page} answers and reaches {', '.join(answer['parts'])}"


async def _tensorboard(environment: dict[str, str]) -> str:
    upstream = environment["LANISTA_TENSORBOARD_UPSTREAM"]
    transport = httpx.AsyncHTTPTransport(uds=upstream.removeprefix("unix:") if upstream.startswith("unix:") else None)
    url = "http://tensorboard" if upstream.startswith("unix:") else upstream
    async with httpx.AsyncClient(timeout=TIMEOUT, transport=transport) as client:
        (await client.get(url)).raise_for_status()
    return f"{environment['LANISTA_URL']}/tensorboard answers at {upstream}"
