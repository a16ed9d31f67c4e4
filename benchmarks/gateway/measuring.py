"""Starts the measured server and the load, each as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HERE = Path(__file__).parent


class ServerProcess:
    """The gateway under measurement."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.gateway.server", *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=HERE.parents[1],
        )
        self.ports: dict[str, int] = self._answer()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def order(self, **order: Any) -> dict[str, Any]:
        """Ask something of the server; its answer."""
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with exit code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def build_load(folder: Path) -> Path:
    """The load program, built with g++."""
    program = folder / "load"
    subprocess.run(["g++", "-std=c++17", "-O2", "-o", program, HERE / "load.cpp"], check=True)  # noqa: S607
    return program


def run_load(program: Path, server: ServerProcess | int, scheme: str, **numbers: float) -> dict[str, Any]:
    """Run a load to its end; what it measured."""
    port = server if isinstance(server, int) else server.ports[scheme]
    options = [text for name, number in numbers.items() for text in (f"--{name}", str(number))]
    done = subprocess.run(
        [program, scheme, "127.0.0.1", str(port), *options], stdout=subprocess.PIPE, text=True, check=True
    )
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured
