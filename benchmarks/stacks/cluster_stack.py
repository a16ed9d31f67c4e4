"""Lanista on several hosts, each role where it would run in a cluster: see docs/guides/cluster.md.

Hosts: `control` (Postgres, Temporal, API, store worker), `head` (Ray's head), `train1`, ... (a train worker and its Ray
node without CPUs) and `node1`, ... (Ray nodes on which crews train).
"""

from __future__ import annotations

import json
import os
import pwd
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg

from benchmarks.stacks.hosts import SHARED, Host, Network, network
from lanista.stack.postgres import binaries

BIN = Path(sys.executable).parent
ROOT = Path(__file__).parents[2]
ARTIFACTS = f"{SHARED}/artifacts"
RAY_PORT, TEMPORAL_PORT, POSTGRES_PORT, API_PORT = 6379, 7233, 5432, 8800
_RAY_OPTIONS = ("--block", "--disable-usage-stats", "--object-store-memory=120000000", "--include-log-monitor=false")
_TRAIN_WORKER = "worker train"
HEALTH = {
    # as docker-compose.yml sets them for Ray's head
    "RAY_health_check_initial_delay_ms": "5000",
    "RAY_health_check_period_ms": "2000",
    "RAY_health_check_timeout_ms": "5000",
    "RAY_health_check_failure_threshold": "3",
    # Compose has 5; on a busy machine the head answers later than that, and no node would ever join
    "RAY_gcs_rpc_server_reconnect_timeout_s": "30",
    "RAY_worker_niceness": "0",  # with Ray's 15 any other work on the machine starves the crews
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_raylet_start_wait_time_s": "300",  # several hosts share this machine, which may be busy
}


class ClusterStack:
    """Starts the roles on hosts, and reaches the API and the database from this machine."""

    def __init__(self, net: Network, settings: Mapping[str, str] | None = None) -> None:
        """`settings` are variables of every role and Ray node."""
        self.network = net
        self._settings = dict(settings or {})
        self._keys = {
            name: secrets.token_hex(24)
            for name in ("LANISTA_TEMPORAL_KEY", "LANISTA_TEMPORAL_TRAIN_KEY", "RAY_AUTH_TOKEN")
        }
        self.control = net.host("control")
        self.head = net.host("head")
        self.token = ""
        self._ray_nodes: dict[str, list[str]] = {}

    @property
    def artifacts(self) -> str:
        return self._settings.get("LANISTA_ARTIFACTS", ARTIFACTS)

    @property
    def database_url(self) -> str:
        return f"postgresql://lanista@{self.control.address}:{POSTGRES_PORT}/lanista"

    def up(self) -> None:
        """Start everything but train workers and Ray nodes."""
        self._start_postgres()
        self._start_temporal()
        self._role(self.control, "migrate")
        self.start_head()
        self.spawn(self.control, "api")
        self.spawn(self.control, "worker", "store")
        made = self.control.run(
            str(BIN / "lanista"), "token", "create", "measured", "--scope", "admin", "--json", env=self._environment()
        )
        self.token = str(json.loads(made)["token"])
        _wait_for(self._api_answers, "the API")

    def start_head(self, cpus: float = 0) -> None:
        """Start Ray's head node; in a cluster it has no CPUs."""
        options = ["--head", f"--port={RAY_PORT}", f"--num-cpus={cpus:g}", "--include-dashboard=false"]
        self._ray_nodes[self.head.name] = options
        self._start_ray(self.head)
        _wait_for(lambda: _listens(self.head.address, RAY_PORT), "Ray's head")

    def add_node(self, name: str, cpus: float, *labels: str, shares: bool = True) -> Host:
        """A new host with a Ray node of this many CPUs."""
        host = self.network.host(name, shares=shares)
        options = [f"--address={self.head.address}:{RAY_PORT}", f"--num-cpus={cpus:g}"]
        self._ray_nodes[name] = [*options, *(f"--labels={','.join(labels)}" for _ in labels[:1])]
        self._start_ray(host)
        return host

    def add_train_worker(self, name: str, *, shares: bool = True, **settings: str) -> Host:
        """A new host with a train worker and the Ray node that a driver needs beside it."""
        host = self.add_node(name, 0, shares=shares)
        self.start_train_worker(host, **settings)
        return host

    def start_train_worker(self, host: Host, **settings: str) -> None:
        """Start a train worker; it is started anew whenever it ends, as Compose does it."""
        environment = {**self._environment(), **settings}
        environment.pop("LANISTA_TEMPORAL_KEY")
        environment.pop("LANISTA_DATABASE_URL")
        worker = f"until {BIN / 'lanista'} {_TRAIN_WORKER}; do sleep 1; done"
        host.spawn("bash", "-c", worker, env=environment, log="worker-train.log")

    def stop_train_worker(self, host: Host) -> None:
        """Stop the host's train worker in order, and wait for its end."""
        host.terminate(_TRAIN_WORKER)
        _wait_for(lambda: not any(_TRAIN_WORKER in command for command in host.processes()), "the train worker's end")

    def promote(self, deployment: str, build: str | None) -> str:
        """Give the train workers' tasks to a build; None: to workers without a deployment."""
        chosen = ["--nothing"] if build is None else ["--build", build]
        return self._role(self.control, "worker", "promote", "train", "--deployment", deployment, *chosen)

    def restart(self, host: Host) -> None:
        """Boot a host that was killed, with its Ray node."""
        host.kill()
        host.start()
        self._start_ray(host)

    def spawn(self, host: Host, *role: str) -> subprocess.Popen[bytes]:
        """Start a role of Lanista on the host."""
        return host.spawn(str(BIN / "lanista"), *role, env=self._environment(), log=f"{'-'.join(role)}.log")

    def ray_nodes(self) -> list[dict[str, Any]]:
        """Ray's nodes, dead ones too, as a train worker reports them; none while it does not answer."""
        ray = self.call("GET", "/system").get("ray")
        return [] if ray is None else list(ray["nodes"])

    def drain(self, host: Host) -> None:
        """Have Ray drain the host's node."""
        own = "print(ray.get_runtime_context().get_node_id())"
        script = f"import ray; ray.init(address='auto', log_to_driver=False); {own}"
        told = host.run(sys.executable, "-c", script, env=self._environment()).split()[-1]
        reason = ["--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "measured"]
        self.on_ray(host, "drain-node", "--node-id", told, *reason, "--deadline-remaining-seconds", "3600")

    def ship_trial(self, folder: Path, spec: dict[str, Any], name: str) -> str:
        """Start a trial from a folder of the control host, with the own code in it; `lanista` packs it."""
        file = folder / "trial.yaml"
        file.write_text(json.dumps({"project": "cluster", "trial": name, **spec}))
        there = f"/tmp/{folder.name}/trial.yaml"  # noqa: S108 of a host of its own
        url = f"http://127.0.0.1:{API_PORT}"
        environment = {**self._environment(), "LANISTA_URL": url, "LANISTA_TOKEN": self.token}
        self.control.run(str(BIN / "lanista"), "trial", "start", there, env=environment)
        return str(self.rows("SELECT id FROM trials WHERE name = %s", name)[0][0])

    def start_s3(self, port: int, bucket: str) -> None:
        """An S3 of moto on the control host, with a bucket; every role is told where it is."""
        self._settings["AWS_ENDPOINT_URL"] = f"http://{self.control.address}:{port}"
        server = [str(BIN / "moto_server"), "--host", "0.0.0.0", "--port", str(port)]  # noqa: S104 of a host of its own
        self.control.spawn(*server, env=self._environment(), log="s3.log")
        _wait_for(lambda: _listens(self.control.address, port), "S3")
        script = f"import s3fs; s3fs.S3FileSystem().mkdir({bucket!r})"
        self.control.run(sys.executable, "-c", script, env=self._environment())

    def drive(self, host: Host, request: dict[str, Any], seconds: float = 600) -> dict[str, Any]:
        """Run `benchmarks.stacks.ray_driver` on a host that has a Ray node."""
        environment = {**self._environment(), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "benchmarks.stacks.ray_driver", json.dumps(request)]
        lines = host.run(*command, env=environment, seconds=seconds).splitlines()
        told: dict[str, Any] = json.loads(next(line for line in reversed(lines) if line.startswith("{")))  # not a log's
        return told

    def wait_for_ray(self, host: Host, nodes: int, patience: float = 600) -> None:
        """Wait until this many Ray nodes are alive, the head and this host's among them."""
        count = "print(sum(node['Alive'] for node in ray.nodes()))"
        script = f"import ray; ray.init(address='auto', log_to_driver=False); {count}"
        command = [sys.executable, "-c", script]

        def all_joined() -> bool:
            told = host.run(*command, env=self._environment(), check=False).split()
            return bool(told) and told[-1] == str(nodes)

        _wait_for(all_joined, f"a Ray of {nodes} nodes", patience)

    def on_ray(self, host: Host, *arguments: str) -> str:
        """Run a command of Ray on the host."""
        return host.run(str(BIN / "ray"), *arguments, env=self._environment())

    def _role(self, host: Host, *role: str) -> str:
        return host.run(str(BIN / "lanista"), *role, env=self._environment())

    def audit(self) -> dict[str, Any]:
        """What `lanista audit` finds."""
        told = self.control.run(str(BIN / "lanista"), "audit", "--json", env=self._environment(), check=False)
        found: dict[str, Any] = json.loads(told)
        return found

    def call(self, method: str, path: str, body: Any = None, patience: float = 60) -> Any:
        """One REST call, retried while the API is busy or down."""
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": secrets.token_hex(16)}
        deadline = time.monotonic() + patience
        while True:
            try:
                url = f"http://{self.control.address}:{API_PORT}/api/v1{path}"
                answer = httpx.request(method, url, json=body, headers=headers, timeout=30)
                if answer.status_code < 500:
                    if answer.is_error:
                        raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
                    return answer.json()
            except httpx.TransportError:
                pass
            if time.monotonic() > deadline:
                raise TimeoutError(f"{method} {path}: no answer within {patience:g} s")
            time.sleep(0.5)

    def rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Rows read directly from Postgres."""
        with psycopg.connect(self.database_url, connect_timeout=10) as connection:
            return connection.execute(query.encode(), parameters).fetchall()

    def start_trial(self, spec: dict[str, Any], name: str) -> str:
        answer = self.call("POST", "/trials", {"project": "cluster", "name": name, "spec": spec})
        return str(answer["id"])

    def _environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("LANISTA_", "RAY_", "PG"))}
        return {
            **clean,
            **HEALTH,
            **self._keys,
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "RAY_AUTH_MODE": "token",
            "RAY_ADDRESS": f"{self.head.address}:{RAY_PORT}",
            "LANISTA_CONFIG": os.devnull,
            "LANISTA_HOST": "0.0.0.0",  # noqa: S104 of a host of its own
            "LANISTA_PORT": str(API_PORT),
            "LANISTA_ALLOWED_HOSTS": self.control.address,
            "LANISTA_DATABASE_URL": self.database_url.replace("postgresql:", "postgresql+psycopg:"),
            "LANISTA_TEMPORAL_ADDRESS": f"{self.control.address}:{TEMPORAL_PORT}",
            "LANISTA_ARTIFACTS": ARTIFACTS,
            "LANISTA_TENSORBOARD_DIR": "/tmp/tensorboard",  # noqa: S108 of a host of its own
            **self._settings,
        }

    def _start_ray(self, host: Host) -> None:
        options = [*_RAY_OPTIONS, f"--node-ip-address={host.address}", *self._ray_nodes[host.name]]
        secret = ("LANISTA_TEMPORAL_KEY", "LANISTA_TEMPORAL_TRAIN_KEY", "LANISTA_DATABASE_URL", "RAY_ADDRESS")
        environment = {name: value for name, value in self._environment().items() if name not in secret}
        # a node that lost the head ends; it is started anew, as Compose does it
        node = f"while :; do {BIN / 'ray'} start {' '.join(options)}; sleep 1; done"
        host.spawn("bash", "-c", node, env=environment, log="ray.log")

    def _start_postgres(self) -> None:
        owner, data = pwd.getpwnam("nobody"), "/tmp/postgres"  # noqa: S108 of a host of its own
        (self.control.folder / "postgres").mkdir(mode=0o700)
        os.chown(self.control.folder / "postgres", owner.pw_uid, owner.pw_gid)
        as_owner = ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups"]
        # every host of this network may connect: there is none but ours
        self.control.run(
            *as_owner, str(binaries() / "initdb"), "-D", data, "-U", "lanista", "--auth=trust", env=os.environ
        )
        (self.control.folder / "postgres" / "pg_hba.conf").write_text("host all all all trust\n")
        options = ["-h", "*", "-k", "", "-p", str(POSTGRES_PORT), "-c", "max_connections=200"]
        server = [*as_owner, str(binaries() / "postgres"), "-D", data, *options]
        self.control.spawn(*server, env=os.environ, log="postgres.log")
        admin = f"postgresql://lanista@{self.control.address}:{POSTGRES_PORT}/postgres"
        _wait_for(lambda: _connects(admin), "Postgres")
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute("CREATE DATABASE lanista")

    def _start_temporal(self) -> None:
        # at all addresses: its own services find each other at 127.0.0.1
        command = [str(BIN / "temporal"), "server", "start-dev", "--ip", "0.0.0.0", "--headless"]  # noqa: S104
        command += ["--port", str(TEMPORAL_PORT), "--log-level", "error", "--db-filename", "/tmp/temporal.db"]  # noqa: S108
        for side in ("Read", "Write"):
            command += ["--dynamic-config-value", f"matching.numTaskqueue{side}Partitions=1"]
        command += ["--dynamic-config-value", "history.transferProcessorMaxPollRPS=10000"]
        self.control.spawn(*command, env=os.environ, log="temporal.log")
        _wait_for(lambda: _listens(self.control.address, TEMPORAL_PORT), "Temporal")

    def _api_answers(self) -> bool:
        try:
            return httpx.get(f"http://{self.control.address}:{API_PORT}/healthz", timeout=5).is_success
        except httpx.TransportError:
            return False


@contextmanager
def cluster_stack(
    settings: Mapping[str, str] | None = None, folder: Path | None = None, *, start: bool = True
) -> Iterator[ClusterStack]:
    """A cluster without train workers and nodes; everything ends with it. Logs stay where a folder is given."""
    with network(folder) as net:
        stack = ClusterStack(net, settings)
        if start:
            stack.up()
        yield stack


def _wait_for(check: Callable[[], bool], what: str, patience: float = 300) -> None:
    deadline = time.monotonic() + patience
    while not check():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not answer within {patience:g} s")
        time.sleep(0.2)


def _connects(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=3).close()
    except psycopg.OperationalError:
        return False
    return True


def _listens(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), timeout=3).close()
    except OSError:
        return False
    return True
