"""`lanista serve --inference ray` beside a local stack: gateway processes with agents, and replicas on its Ray."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from benchmarks.stacks.local_stack import LocalStack


class ServedChampion:
    """Two gateway processes that follow an alias, with a canary; their decisions come from replicas on Ray."""

    def __init__(self, stack: LocalStack, alias: str, canary: str, replicas: int = 2) -> None:
        self._stack = stack
        self._options = ["--alias", alias, "--canary", canary, "--share", "0.5", "--seats", "0", "--inference", "ray"]
        self._options += ["--replicas", str(replicas), "--processes", "2", "--port", "0", "--interval", "0.5"]
        self.address = ""
        self._printed: list[str] = []

    def __enter__(self) -> Self:
        state = self._stack.home.read_state()
        assert state is not None
        home = self._stack.home
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("LANISTA_", "RAY_"))}
        environment = {
            **clean,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "LANISTA_URL": f"http://127.0.0.1:{self._stack.port}",
            "LANISTA_TOKEN": home.admin_token.read_text().strip(),
            "RAY_ADDRESS": state.children["ray"].address,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(home.root / "ray.token"),
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        }
        command = [sys.executable, "-m", "lanista", "serve", "--cache", str(home.root / "served"), *self._options]
        self._process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._printed.append(line)
            if found := re.search(r"Serving .* at http (127\.0\.0\.1:\d+)", line):
                self.address = found[1]
                break
        else:
            raise RuntimeError("".join(self._printed))
        threading.Thread(target=lambda: self._printed.extend(self._process.stdout or ()), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(90)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def processes(self) -> list[int]:
        """The processes that hold sessions and agents."""
        children = psutil.Process(self._process.pid).children()
        return [child.pid for child in children if "spawn_main" in " ".join(child.cmdline())]
