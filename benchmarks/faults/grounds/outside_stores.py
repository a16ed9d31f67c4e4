"""Postgres and the artifact store outside the stack, each behind a proxy that can cut it off."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx

from benchmarks.faults.grounds.ground import Ground, Skipped
from benchmarks.faults.grounds.tcp_proxy import TcpProxy
from lanista.stack.errors import StillStarting
from lanista.stack.home import Home
from lanista.stack.ports import unused_port
from lanista.stack.postgres import EmbeddedPostgres
from lanista.stack.processes.child_environment import base_environment

BUCKET = "lanista"
PORTS = ("postgres", "postgres_proxy", "s3", "s3_proxy")


class OutsideStores(Ground):
    """A Postgres server and an S3 (moto's) of the ground's own. The servers outlive the process that started them."""

    def settings(self) -> dict[str, str]:
        self.outside = Home(self.folder / "outside")
        self.outside.create()
        self.ports = self._ports()
        self.postgres = EmbeddedPostgres(self.outside, self.ports["postgres"])
        proxied = self.postgres.url().replace(str(self.ports["postgres"]), str(self.ports["postgres_proxy"]))
        return {
            "LANISTA_DATABASE_URL": proxied,
            "LANISTA_ARTIFACTS": f"s3://{BUCKET}/artifacts",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.ports['s3_proxy']}",
            "AWS_ACCESS_KEY_ID": "chaos",
            "AWS_SECRET_ACCESS_KEY": "chaos",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def _ports(self) -> dict[str, int]:
        """Those of the first start: the servers may still run when a piece is resumed."""
        file = self.outside.ports_file
        if not file.exists():
            ports: dict[str, int] = {}
            for name in PORTS:
                ports[name] = unused_port(set(ports.values()))
            file.write_text(json.dumps(ports))
        found: dict[str, int] = json.loads(file.read_text())
        return found

    def open(self) -> None:
        if importlib.util.find_spec("moto") is None or importlib.util.find_spec("s3fs") is None:
            raise Skipped('an artifact store to break needs `pip install "moto[server]" s3fs`')
        self._start_postgres()
        self._start_s3()
        self.postgres_proxy = TcpProxy(self.ports["postgres_proxy"], self.ports["postgres"])
        self.s3_proxy = TcpProxy(self.ports["s3_proxy"], self.ports["s3"])
        super().open()

    def close(self) -> None:
        self.stack.down()
        for name in ("postgres", "s3"):
            with suppress(OSError, ValueError):
                os.kill(int(self._pid_file(name).read_text()), signal.SIGINT)
        self.postgres_proxy.close()
        self.s3_proxy.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start_postgres(self) -> None:
        if not self._runs("postgres"):
            self.postgres.prepare()
            self._spawn("postgres", self.postgres.command(), **self.postgres.identity())
        deadline = time.monotonic() + 60
        while not self._postgres_is_ready():
            if time.monotonic() > deadline:
                raise TimeoutError("the Postgres outside is not ready after a minute")
            time.sleep(0.2)
        self.postgres.ensure_database()

    def _postgres_is_ready(self) -> bool:
        try:
            return self.postgres.is_ready()
        except StillStarting:
            return False

    def _start_s3(self) -> None:
        port = self.ports["s3"]
        if not self._runs("s3"):
            # moto keeps objects in memory: a piece whose server is gone cannot be resumed
            server = Path(sys.executable).parent / "moto_server"
            self._spawn("s3", [str(server), "-H", "127.0.0.1", "-p", str(port)])
        deadline = time.monotonic() + 60
        while True:
            with suppress(httpx.TransportError):
                # moto takes requests without a signature; a bucket that exists stays as it is
                if httpx.put(f"http://127.0.0.1:{port}/{BUCKET}", timeout=10).status_code < 500:
                    return
            if time.monotonic() > deadline:
                raise TimeoutError("moto's S3 does not answer after a minute")
            time.sleep(0.3)

    def _spawn(self, name: str, command: list[str], **identity: object) -> None:
        with self.outside.log_file(name).open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=base_environment(os.environ),
                **identity,  # type: ignore[call-overload]
            )
        self._pid_file(name).write_text(str(process.pid))

    def _pid_file(self, name: str) -> Path:
        return self.outside.run / f"{name}.pid"

    def _runs(self, name: str) -> bool:
        try:
            os.kill(int(self._pid_file(name).read_text()), 0)
        except (OSError, ValueError):
            return False
        return True
