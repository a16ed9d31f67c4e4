"""The same model behind Ray Serve's HTTP ingress with `@serve.batch`, under the same load, for comparison."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import distributions, requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from benchmarks.gateway.measuring import HERE, run_load

CONNECTIONS = 64
FOLDER = HERE.parents[1] / ".venv" / "ray-serve"
"""Where the packages are that Ray Serve needs and the present environment has not."""


def measure_ray_serve(load: Path, seconds: float) -> dict[str, Any] | str:
    """What it does at 64 connections, or why it was not measured."""
    if not _extra_packages():
        return f"not measured: ray[serve] is not installed, and could not be installed into {FOLDER}"
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.gateway.ray_serve_app"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=HERE.parents[1],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), str(FOLDER)]),
            # on a busy machine its ingress needs longer than the five seconds after which it is killed
            "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "120",
        },
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


def _extra_packages() -> bool:
    """Install what `ray[serve]` needs beyond Ray into a folder of its own; False where that fails."""
    wanted = [
        Requirement(line)
        for line in requires("ray") or []
        if "extra ==" in line and Requirement(line).marker.evaluate({"extra": "serve"})  # type: ignore[union-attr]
    ]
    here = {name.lower().replace("_", "-") for name in (each.metadata["Name"] for each in distributions())}
    missing = [f"{each.name}{each.specifier}" for each in wanted if each.name.lower().replace("_", "-") not in here]
    if not missing or (FOLDER / "installed").exists():
        return True
    try:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(FOLDER), *missing]
        subprocess.run(command, check=True, timeout=600)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"what ray[serve] needs cannot be installed: {error}", file=sys.stderr)
        return False
    (FOLDER / "installed").touch()
    return True
