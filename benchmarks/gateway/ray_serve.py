"""The same model behind Ray Serve's HTTP ingress with `@serve.batch`, under the same load, for comparison."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.gateway.measuring import HERE, run_load

CONNECTIONS = 64
VENV = HERE.parents[1] / ".venv" / "ray-serve"
"""Where Ray Serve is installed, if the present environment has only Ray."""


def measure_ray_serve(load: Path, seconds: float) -> dict[str, Any] | str:
    """What it does at 64 connections, or why it was not measured."""
    python = _python()
    if python is None:
        return f"not measured: ray[serve] is not installed, and could not be installed into {VENV}"
    process = subprocess.Popen(
        [python, "-m", "benchmarks.gateway.ray_serve_app"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=HERE.parents[1],
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        line = _first_json(process)
        if line is None:
            return "not measured: Ray Serve did not start"
        shared = {"connections": CONNECTIONS, "sessions": CONNECTIONS}
        run_load(load, line["port"], "http", seconds=2, **shared)
        measured = run_load(load, line["port"], "http", seconds=max(seconds, 5.0), **shared)
    finally:
        process.stdin.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
    return {name: measured[name] for name in ("ticks_per_s", "p50_ms", "p99_ms", "refused", "lost")}


def _first_json(process: subprocess.Popen[str]) -> dict[str, Any] | None:
    """The line that says which port; Ray prints others."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("{"):
            found: dict[str, Any] = json.loads(line)
            return found
    return None


def _python() -> Path | None:
    """An interpreter that has Ray Serve; made where there is none yet."""
    if all(importlib.util.find_spec(name) for name in ("ray.serve", "aiorwlock", "watchfiles")):
        return Path(sys.executable)
    python = VENV / "bin" / "python"
    if not python.exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", VENV], check=True, timeout=120)
            wanted = f"ray[serve]=={version('ray')}"
            subprocess.run([python, "-m", "pip", "install", "--quiet", wanted], check=True, timeout=600)
        except (subprocess.SubprocessError, OSError) as error:
            print(f"ray[serve] cannot be installed: {error}", file=sys.stderr)
            return None
    return python
