"""A local stack for measurements, with its own data folder, controlled through the command line and the REST API."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg

from lanista.stack.control import reach
from lanista.stack.home import Home
from lanista.stack.ports import unused_port

NOT_READY = "The stack is not ready after"
"""What `lanista up` says of a machine that is too busy, unlike of a part that fails."""


class LocalStack:
    """`lanista` commands, REST calls and rows of one local stack."""

    python = sys.executable
    cwd: Path | None = None
    """The folder whose code runs; by default that of the caller."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        # stacks that start at the same time would take the same port for games
        self._settings = {"LANISTA_GATEWAY_PORT": str(unused_port()), **settings}
        self.home = Home(folder / "home")
        self.port = unused_port()

    def lanista(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            [self.python, "-m", "lanista", *arguments, "--home", str(self.home.root)],
            env=self._environment(),
            cwd=self.cwd,
            capture_output=True,
            text=True,
        )
        if check and done.returncode:
            raise RuntimeError(f"lanista {arguments[0]}: {done.stdout}{done.stderr}")
        return done.stdout

    def _environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("LANISTA_", "RAY_"))}
        return {**clean, **self._settings}

    def up(self) -> None:
        """Start the stack. `lanista up` gives up after two minutes; on a machine with much other work try longer."""
        try:
            self.lanista("up", "--detach", "--port", str(self.port))
        except RuntimeError as error:
            if NOT_READY not in str(error):
                raise
            self.start()

    def start(self, patience: float = 900.0) -> None:
        """Start a stack that was up before, and wait for it, also on a machine with much other work."""
        with self.home.log_file("supervisor").open("ab") as log:
            supervisor = subprocess.Popen(
                [self.python, "-m", "lanista", "up", "--port", str(self.port), "--home", str(self.home.root)],
                env=self._environment(),
                cwd=self.cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + patience
        while not ((state := self.home.live_state()) and state.ready and state.pid == supervisor.pid):
            if supervisor.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the stack did not start: {self.home.last_log_lines('supervisor')}")
            time.sleep(0.1)

    def down(self) -> None:
        self.lanista("down", check=False)

    def call(self, method: str, path: str, body: Any = None, patience: float = 60) -> Any:
        """One REST call, retried while the API is down; the idempotency key makes a repeated POST harmless."""
        token = self.home.admin_token.read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"{method}{path}{time.monotonic_ns()}"}
        deadline = time.monotonic() + patience
        while True:
            try:
                url = f"http://127.0.0.1:{self.port}/api/v1{path}"
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

    def rows(self, query: str, *parameters: Any, patience: float = 60) -> list[tuple[Any, ...]]:
        """Rows read directly from Postgres, retried while it is down."""
        url = reach(self.home)["LANISTA_DATABASE_URL"].replace("+psycopg", "")
        deadline = time.monotonic() + patience
        while True:
            try:
                with psycopg.connect(url, connect_timeout=3) as connection:
                    return connection.execute(query.encode(), parameters).fetchall()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def start_trial(self, spec: dict[str, Any], name: str = "measured") -> str:
        """The id of a trial of this name; names have hyphens where those of presets have underscores."""
        new = {"project": "benchmarks", "name": name.replace("_", "-"), "spec": spec}
        answer = self.call("POST", "/trials", new)
        return str(answer["id"])


@contextmanager
def local_stack(**settings: str) -> Iterator[LocalStack]:
    """A stack that is up, with these environment variables; stopped and removed in the end."""
    folder = Path(tempfile.mkdtemp(prefix="lanista-benchmark-"))
    stack = LocalStack(folder, settings)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # else the stack would outlive a measurement
    try:
        stack.up()
        yield stack
    finally:
        stack.down()
        shutil.rmtree(folder, ignore_errors=True)
