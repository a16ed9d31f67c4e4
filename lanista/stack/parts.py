"""The parts of the local stack: commands, dependencies and readiness checks.

See docs/decisions/embedded-stack.md.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest

from api.settings import ApiSettings, StoreSettings
from lanista.settings import StackSettings
from lanista.stack.gateway import StackGateway
from lanista.stack.home import Home
from lanista.stack.ports import answers, choose_ports
from lanista.stack.postgres import EmbeddedPostgres
from lanista.stack.processes.child import ChildSpec
from lanista.stack.processes.child_environment import (
    COMPUTE_PREFIXES,
    DATABASE_PREFIXES,
    as_environment,
    chosen,
    storage_prefixes,
    variables_of,
)
from lanista.stack.processes.readiness import is_written, port_answers, socket_answers
from lanista.stack.processes.worker_user import (
    PRIVATE_TO_GROUP,
    find_worker_user,
    prepare_folders,
    prepare_own_folder,
    prepare_scratch,
)
from lanista.stack.temporal_keys import TemporalKeys
from orchestrator.search_attributes import register_search_attributes
from orchestrator.settings import ArtifactCacheSettings, CodeSettings, TemporalSettings
from orchestrator.temporal import TemporalUnreachable, connect
from workers.settings import WorkerSettings

SESSION_SECRET = "LANISTA_SESSION_SECRET"  # noqa: S105 the name of a variable
PORTS = ("postgres", "temporal", "temporal_ui", "ray", "ray_client", "ray_agent")
LOCAL = "127.0.0.1"


def page_of(settings: StackSettings) -> str:
    """The page's address on this machine."""
    reachable = {"0.0.0.0": LOCAL, "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 compared, not bound
    return f"http://{f'[{reachable}]' if ':' in reachable else reachable}:{settings.port}"


class Parts:
    """Builds the specs of the children to run, and the environment that connects them."""

    def __init__(self, settings: StackSettings, home: Home) -> None:
        self.settings = settings
        self.home = home
        fixed = {
            "postgres": settings.postgres_port,
            "temporal": settings.temporal_port,
            "ray": settings.ray_port,
        }
        self.gateway = StackGateway(home) if settings.gateway and not settings.gateways else None
        names: tuple[str, ...] = PORTS
        preferred: dict[str, int] = {}
        if self.gateway is not None:
            names, fixed, preferred = PORTS + self.gateway.names, fixed | self.gateway.fixed, self.gateway.preferred
        self.ports = choose_ports(home, names, fixed, frozenset({settings.port}), preferred)
        self.postgres = None if settings.database_url else EmbeddedPostgres(home, self.ports["postgres"])
        self.database_url = (
            self.postgres.url() if self.postgres else settings.database_url.get_secret_value()  # type: ignore[union-attr]
        )
        self.temporal_address = settings.temporal_address or f"{LOCAL}:{self.ports['temporal']}"
        self.ray_address = settings.ray_address or f"{LOCAL}:{self.ports['ray']}"
        self.artifacts = settings.artifacts or str(self.home.artifacts)
        self.imports = settings.import_folders or str(home.imports)
        self.traces = Path(settings.trace_folder) if settings.trace_folder else home.traces
        self.temporal_keys = TemporalKeys(settings, home)
        self.worker_user = find_worker_user(settings.worker_user, home)
        if self.worker_user:
            prepare_folders(home, self.worker_user, self.artifacts)
            if settings.tracing == "file":
                prepare_own_folder(self.traces / "train-worker", self.worker_user)
        self.page = page_of(settings)
        self.links = {"tensorboard": f"{self.page}/tensorboard"}
        if settings.temporal_ui and not settings.temporal_address:
            self.links["temporal"] = f"http://{LOCAL}:{self.ports['temporal_ui']}"

    def environment(self) -> dict[str, str]:
        """Environment of the API and the store worker. Arguments hold no secrets: every local user can read them.

        The secret that signs browser sessions is not here: only the API gets it. Nor are the keys that seal what goes
        through Temporal: each process gets only those that it needs.
        """
        values = {
            "LANISTA_HOME": str(self.home.root),
            "LANISTA_DATABASE_URL": self.database_url,
            "LANISTA_TEMPORAL_ADDRESS": self.temporal_address,
            "LANISTA_ARTIFACTS": self.artifacts,
            "LANISTA_TENSORBOARD_DIR": str(self.home.tensorboard),
            "LANISTA_IMPORT_FOLDERS": self.imports,
            "LANISTA_TENSORBOARD_URL": "",
            "LANISTA_TENSORBOARD_UPSTREAM": self._tensorboard_upstream(),
            "LANISTA_TEMPORAL_UI_URL": self.links.get("temporal", ""),
            "LANISTA_LOG_FOLDER": str(self.home.logs),
            "LANISTA_TRACE_FOLDER": str(self.traces.resolve()),
            "LANISTA_HOST": self.settings.host,
            "LANISTA_PORT": str(self.settings.port),
            "LANISTA_URL": self.page,
            "RAY_ADDRESS": self.ray_address,
            # one installation on one machine: the build that starts is the one that is wanted
            "LANISTA_TEMPORAL_PROMOTE": "true",
            "PYTHONUNBUFFERED": "1",
        }
        return {**values, **self._ray_environment()}

    def _store_environment(self, settings: type[StoreSettings]) -> dict[str, str]:
        """For the API and the store worker: their own settings, and credentials of Postgres and the artifact store."""
        own = variables_of(settings) - {SESSION_SECRET} | {"LANISTA_CONFIG"}
        prefixes = (*DATABASE_PREFIXES, *storage_prefixes(self.artifacts))
        keys = self.temporal_keys.store_environment()
        if self.worker_user:  # user code must not run in the store worker, which has the database
            keys["LANISTA_OWN_MATCHMAKERS"] = "false"
        return {**chosen(os.environ, own, prefixes), **self.environment(), **keys}

    def _compute_environment(self) -> dict[str, str]:
        """For Ray, whose actors run users' code: no settings but those of a node, and what the user
        passes on by LANISTA_WORKER_ENV.
        """
        prefixes = (*COMPUTE_PREFIXES, *storage_prefixes(self.artifacts))
        passed = chosen(os.environ, self.settings.worker_env_names, prefixes)
        own = self.worker_user.environment() if self.worker_user else {}
        node = as_environment(ArtifactCacheSettings.load()) | as_environment(CodeSettings.load())
        return {**passed, **own, **node, **self._ray_environment()}

    def _identity(self) -> dict[str, Any]:
        """Arguments for subprocess: who runs user code."""
        return self.worker_user.identity() if self.worker_user else {}

    def _train_environment(self) -> dict[str, str]:
        """For the train worker: its own settings by value, so that it need not read lanista.toml."""
        shared = self.environment()
        needed = (
            *("LANISTA_TEMPORAL_ADDRESS", "LANISTA_TEMPORAL_PROMOTE"),
            *("LANISTA_ARTIFACTS", "LANISTA_TENSORBOARD_DIR", "LANISTA_IMPORT_FOLDERS"),
        )
        return {
            **self._compute_environment(),
            **as_environment(WorkerSettings.load()),
            **{name: shared[name] for name in (*needed, "RAY_ADDRESS")},
            # a folder of its own: it may run as another user, whom the others must not trust with theirs
            "LANISTA_TRACE_FOLDER": str(self.traces.resolve() / "train-worker"),
            **self._gateway_access(),
            **self.temporal_keys.train_environment(),
            "PYTHONUNBUFFERED": "1",
            "LANISTA_CONFIG": os.devnull,
        }

    def _gateway_access(self) -> dict[str, str]:
        """Where the train worker asks for games that call in, if the stack has a gateway."""
        if self.gateway is None:
            return {}
        addresses = self.gateway.control_addresses(self.ports)
        return {"LANISTA_GATEWAYS": addresses, "LANISTA_GATEWAY_CONTROL_KEY": self.gateway.key}

    def _session_secret(self) -> str:
        """The user's setting, else a secret kept in the data folder: browsers stay signed in when the API restarts."""
        chosen = ApiSettings.load().session_secret
        return chosen.get_secret_value() if chosen else self.home.secret("session.secret")

    def _ray_environment(self) -> dict[str, str]:
        shared = {"RAY_gcs_rpc_server_reconnect_timeout_s": "5", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
        if self.settings.ray_address:
            return shared
        self.home.secret("ray.token")
        return {
            **shared,
            # the head keeps 100,000 ended calls of actors by default, and grows for hours until it has them
            "RAY_task_events_max_num_task_in_gcs": "2000",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(self.home.root / "ray.token"),
            # without this Ray replaces the loopback address by the machine's external one
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        }

    def specs(self, migrate: Callable[[], None]) -> list[ChildSpec]:
        """The children in starting order; `migrate` migrates the database."""
        children = [self._store_worker(), self._train_worker(), self._api(), self._tensorboard()]
        if self.gateway is not None:
            children.append(self._gateway(self.gateway))
        if not self.settings.ray_address:
            children.insert(0, self._ray())
        if not self.settings.temporal_address:
            children.insert(0, self._temporal())
        if self.postgres:
            children.insert(0, self._postgres(self.postgres, migrate))
        present = {child.name for child in children}
        for child in children:
            child.needs = tuple(need for need in child.needs if need in present)
            child.follows = child.follows if child.follows in present else ""
        return children

    def _postgres(self, postgres: EmbeddedPostgres, migrate: Callable[[], None]) -> ChildSpec:
        def set_up() -> None:
            postgres.ensure_database()
            migrate()

        return ChildSpec(
            name="postgres",
            command=postgres.command(),
            prepare=postgres.prepare,
            is_ready=lambda: asyncio.to_thread(postgres.is_ready),
            when_ready=set_up,
            identity=postgres.identity(),
            stop_signal=signal.SIGINT,  # Postgres' fast shutdown: ends sessions, closes files
            address=f"{LOCAL}:{postgres.port}",
        )

    def _temporal(self) -> ChildSpec:
        server = shutil.which("temporal", path=str(Path(sys.executable).parent)) or "temporal"
        port = str(self.ports["temporal"])
        command = [server, "server", "start-dev", "--ip", LOCAL, "--port", port, "--log-level", "error"]
        command += ["--db-filename", str(self.home.temporal_db), "--log-format", "json"]
        command += ["--namespace", self.settings.temporal_namespace]
        for side in ("Read", "Write"):
            # with one partition the queue is ordered by priority as a whole, so that players share the crews fairly
            command += ["--dynamic-config-value", f"matching.numTaskqueue{side}Partitions=1"]
        # groups of tasks, one a trial, are served by their weights; without it, first come, first served
        command += ["--dynamic-config-value", "matching.enableFairness=true"]
        # the dev server has one shard, which by default polls at most 20 times a second: 50 to 100 ms per step
        command += ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=10000"]
        # the HTTP API cannot be switched off; it answers only to a host name that no browser can be made to send
        command += ["--dynamic-config-value", 'frontend.httpAllowedHosts=["closed.invalid"]']
        page = ["--ui-port", str(self.ports["temporal_ui"])] if "temporal" in self.links else ["--headless"]
        return ChildSpec(
            name="temporal",
            command=[*command, *page],
            is_ready=self._temporal_answers,
            when_ready=self._register_search_attributes,
            address=self.temporal_address,
        )

    def _register_search_attributes(self) -> None:
        """Lets Temporal's Web UI find leagues by name. A failure is a warning, and the stack starts without them."""

        async def register() -> None:
            with suppress(TemporalUnreachable):  # the server is gone again; its next start registers them
                await register_search_attributes(await connect(self._temporal_settings()))

        asyncio.run(register())

    def _temporal_settings(self) -> TemporalSettings:
        return TemporalSettings(
            temporal_address=self.temporal_address, temporal_namespace=self.settings.temporal_namespace
        )

    async def _temporal_answers(self) -> bool:
        if not answers(self.ports["temporal"]):
            return False
        try:
            client = await asyncio.wait_for(connect(self._temporal_settings()), 3)
            await asyncio.wait_for(client.workflow_service.get_system_info(GetSystemInfoRequest()), 3)
        except Exception:  # the SDK raises various errors while the server starts
            return False
        return True

    def _ray(self) -> ChildSpec:
        settings, ports = self.settings, self.ports
        options = {
            "--port": ports["ray"],
            "--node-ip-address": LOCAL,
            "--num-cpus": settings.ray_cpus or os.cpu_count(),
            "--object-store-memory": settings.ray_object_store_mb * 1024 * 1024,
            "--temp-dir": self.home.scratch / "ray",
            # Ray's fixed default ports would conflict with a second stack on the machine
            "--ray-client-server-port": ports["ray_client"],
            "--dashboard-agent-listen-port": ports["ray_agent"],
            "--min-worker-port": 0,
            "--max-worker-port": 0,
            "--include-dashboard": "false",
            "--include-log-monitor": "false",
        }
        flags = [part for key, value in options.items() for part in (key, str(value))]
        ray = Path(sys.executable).parent / "ray"
        return ChildSpec(
            name="ray",
            command=[str(ray), "start", "--head", "--block", "--disable-usage-stats", *flags],
            environment=self._compute_environment(),
            prepare=lambda: prepare_scratch(self.home.scratch / "ray", self.worker_user),
            identity=self._identity(),
            is_ready=port_answers(ports["ray"]),
            stop_signal=signal.SIGKILL,  # it has no state to save, and its own shutdown takes half a minute
            address=self.ray_address,
        )

    def _role(self, name: str, *arguments: str, needs: tuple[str, ...], environment: dict[str, str]) -> ChildSpec:
        return ChildSpec(
            name=name,
            command=[sys.executable, "-m", "lanista", *arguments],
            environment=environment,
            needs=needs,
            is_ready=is_written(self.home.ready_file(name)),
            identity={"umask": PRIVATE_TO_GROUP} if self.worker_user else {},
        )

    def _store_worker(self) -> ChildSpec:
        environment = self._store_environment(StoreSettings)
        return self._role("store-worker", "worker", "store", needs=("postgres", "temporal"), environment=environment)

    def _train_worker(self) -> ChildSpec:
        environment = self._train_environment()
        spec = self._role("train-worker", "worker", "train", needs=("temporal", "ray"), environment=environment)
        spec.follows = "ray"
        spec.identity = self._identity()
        return spec

    def _gateway(self, gateway: StackGateway) -> ChildSpec:
        """It runs users' agents, so that it gets what the train worker gets, and no more."""
        compute = {name: value for name, value in self._compute_environment().items() if not name.startswith("RAY_")}
        environment = {**compute, **gateway.environment(self.ports, self.artifacts)}
        spec = self._role("gateway", "gateway", needs=(), environment=environment)
        spec.identity = self._identity()
        listens = [self.ports[name] for name in gateway.names]
        spec.is_ready = port_answers(listens[0])
        if "gateway" in gateway.names:
            spec.address = f"http://{gateway.settings.gateway_host}:{self.ports['gateway']}"
        return spec

    def _api(self) -> ChildSpec:
        environment = {**self._store_environment(ApiSettings), SESSION_SECRET: self._session_secret()}
        spec = self._role("api", "api", needs=("postgres", "temporal"), environment=environment)
        spec.is_ready = self._api_answers
        spec.address = self.page
        return spec

    async def _api_answers(self) -> bool:
        try:
            async with httpx.AsyncClient(timeout=2, trust_env=False) as client:  # not by a proxy of the environment
                return (await client.get(f"{self.page}/healthz")).is_success
        except httpx.HTTPError:
            return False

    def _tensorboard(self) -> ChildSpec:
        port = self.settings.tensorboard_port
        where = str(port or f"unix:{self._tensorboard_socket}")
        return ChildSpec(
            name="tensorboard",
            command=[sys.executable, "-m", "lanista.stack.tensorboard_server", str(self.home.tensorboard), where],
            # runs as the user of user code, since it follows paths in files that this user writes
            environment=self.worker_user.environment() if self.worker_user else {},
            identity=self._identity(),
            is_ready=port_answers(port) if port else socket_answers(self._tensorboard_socket),
            address=self.links["tensorboard"],
        )

    @property
    def _tensorboard_socket(self) -> Path:
        return (self.worker_user.folder if self.worker_user else self.home.scratch) / "tensorboard.sock"

    def _tensorboard_upstream(self) -> str:
        port = self.settings.tensorboard_port
        return f"http://{LOCAL}:{port}" if port else f"unix:{self._tensorboard_socket}"
