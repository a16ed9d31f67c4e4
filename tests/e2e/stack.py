"""A real local stack in a folder of its own, driven through the command line as a person would."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from lanista.stack.home import Home
from lanista.stack.ports import unused_port
from lanista.stack.processes.leftovers import leftovers


@dataclass
class LocalStack:
    """`lanista` commands against one data folder."""

    folder: Path
    port: int
    extra: dict[str, str] = field(default_factory=dict)
    """Variables beyond the clean environment: parts of one's own."""
    gateway_port: int = field(default_factory=unused_port)
    """Stacks that start at the same time would take the same one."""

    @classmethod
    def at(cls, folder: Path) -> LocalStack:
        return cls(folder, unused_port())

    @property
    def home(self) -> Home:
        return Home(self.folder / ".lanista")

    @property
    def page(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def lanista(self, *arguments: str, timeout: float = 150) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "lanista", *arguments],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def environment(self) -> dict[str, str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("LANISTA_", "RAY_"))}
        return {**clean, "COLUMNS": "200", "LANISTA_GATEWAY_PORT": str(self.gateway_port), **self.extra}

    def up(self) -> subprocess.CompletedProcess[str]:
        return self.lanista("up", "--detach", "--port", str(self.port))

    def up_on_a_terminal(self) -> str:
        """What `lanista up` prints for a person."""
        here, terminal = pty.openpty()
        subprocess.run(
            [sys.executable, "-m", "lanista", "up", "--detach", "--port", str(self.port)],
            cwd=self.folder,
            env={**self.environment(), "TERM": "dumb"},
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=subprocess.DEVNULL,
            timeout=150,
            check=True,
        )
        os.close(terminal)
        printed = b""
        with suppress(OSError):  # how a terminal says that nobody writes any more
            while part := os.read(here, 65_536):
                printed += part
        os.close(here)
        return printed.decode()

    def down(self) -> subprocess.CompletedProcess[str]:
        return self.lanista("down")

    def status(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.lanista("status", "--json").stdout)
        return answer

    def pid(self, child: str) -> int:
        state = self.home.read_state()
        assert state is not None
        if child == "supervisor":
            return state.pid
        pid = state.children[child].pid
        assert pid is not None, f"{child} has no process"
        return pid

    def kill(self, *children: str) -> None:
        for pid in [self.pid(child) for child in children]:
            os.kill(pid, signal.SIGKILL)

    def kill_everything(self) -> None:
        self.kill("supervisor")  # first, so that it restarts nothing
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):  # some end with the one before
                process.send_signal(signal.SIGKILL)

    def call(self, method: str, path: str, body: Any = None, patience: float = 150) -> Any:
        """One REST call as the local admin, tried again while the API is away; a repeated POST has one key."""
        token = self.home.admin_token.read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": uuid.uuid4().hex}
        deadline = time.monotonic() + patience
        while True:
            try:
                # nothing to verify on plain HTTP, and reading the certificates each time would cost the most
                answer = httpx.request(
                    method, f"{self.page}/api/v1{path}", json=body, headers=headers, timeout=30, verify=False
                )
                if answer.status_code < 500:
                    assert answer.is_success, f"{method} {path}: {answer.text}"
                    return answer.json()
            except httpx.TransportError:
                pass
            assert time.monotonic() < deadline, f"{method} {path}: no answer within {patience} s"
            time.sleep(0.3)

    def processes(self) -> list[psutil.Process]:
        return leftovers(self.home)

    def wait_until_whole(self, *, newer_than: dict[str, int] | None = None, patience: float = 150) -> None:
        """Until every part is ready, the API reaches all of them, and the named parts have new processes."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            state = self.home.read_state()
            renewed = state is not None and all(
                state.children[n].pid not in (p, None) for n, p in (newer_than or {}).items()
            )
            if state and state.ready and renewed and self._api_is_ready():
                return
            time.sleep(0.2)
        raise AssertionError(f"not whole after {patience} s: {self.lanista('status').stdout}")

    def _api_is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.page}/readyz", timeout=5, verify=False).is_success
        except httpx.HTTPError:
            return False
