"""Ticks a second and latencies of a gateway over HTTP, TCP and gRPC, on this machine, with Ray Serve beside it.

`python -m benchmarks.gateway --json`. Server and clients share the machine. The agent turns 32 numbers of float32 into
an action by a perceptron of 128 x 128 in the gateway's process. The load comes from a C++ program (g++ builds it), so
that the client is not the bottleneck; over gRPC from a Python process, which is one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.gateway.grpc_load import measure_grpc
from benchmarks.gateway.measuring import ServerProcess, build_load, run_load
from benchmarks.gateway.ray_serve import measure_ray_serve
from benchmarks.gateway.stages import STAGES

CONNECTIONS = 64
PACED = 5000
SESSIONS = 10_000
SWAPS = 100
BATCHING_CLIENTS = 256


def saturated(load: Path, scheme: str, seconds: float, connections: int = CONNECTIONS) -> dict[str, Any]:
    """As many ticks as there can be, and the server's CPU for each."""
    with ServerProcess() as server:
        run_load(load, server, scheme, connections=connections, sessions=connections, seconds=1)
        before = server.order(do="read")
        measured = run_load(load, server, scheme, connections=connections, sessions=connections, seconds=seconds)
        after = server.order(do="read")
    return {
        **{name: measured[name] for name in ("ticks_per_s", "p50_ms", "p99_ms")},
        "server_cpu_us": round(1e6 * (after["cpu_s"] - before["cpu_s"]) / max(1, measured["ticks"]), 1),
        "client_cpu_us": round(1e6 * measured["client_cpu_s"] / max(1, measured["ticks"]), 1),
        "rows_a_batch": round((after["rows"] - before["rows"]) / max(1, after["batches"] - before["batches"]), 1),
        "refused": measured["refused"] + measured["lost"],
    }


def by_stage(load: Path, scheme: str, seconds: float) -> dict[str, float]:
    """CPU microseconds a tick in each stage; the rest is the event loop and the kernel."""
    with ServerProcess("--stages") as server:
        run_load(load, server, scheme, connections=CONNECTIONS, sessions=CONNECTIONS, seconds=1)
        before = server.order(do="read")
        measured = run_load(load, server, scheme, connections=CONNECTIONS, sessions=CONNECTIONS, seconds=seconds)
        after = server.order(do="read")
    ticks = max(1, measured["ticks"])
    stages = {stage: round(1e6 * after["stages"][stage] / ticks, 2) for stage in STAGES}
    whole = 1e6 * (after["cpu_s"] - before["cpu_s"]) / ticks
    return {**stages, "loop_and_kernel": round(whole - sum(stages.values()), 2)}


def paced(load: Path, scheme: str, seconds: float) -> dict[str, Any]:
    """Latency at a set rate, counted from when each tick is due."""
    with ServerProcess() as server:
        shared = {"connections": CONNECTIONS, "sessions": CONNECTIONS, "rate": PACED}
        run_load(load, server, scheme, seconds=1, **shared)
        before = server.order(do="read")
        measured = run_load(load, server, scheme, seconds=seconds, **shared)
        after = server.order(do="read")
    return {
        "rate": PACED,
        **{name: measured[name] for name in ("ticks_per_s", "p50_ms", "p99_ms", "max_ms")},
        "server_cpu_us": round(1e6 * (after["cpu_s"] - before["cpu_s"]) / max(1, measured["ticks"]), 1),
    }


def open_sessions(load: Path) -> int:
    """Sessions that are open at once, each on a connection of its own and ticked once, as the gateway counts them."""
    most: list[int] = []
    with ServerProcess() as server:
        command = {"connections": SESSIONS, "sessions": SESSIONS, "seconds": 60, "hold": 1, "stay": 2}
        thread = threading.Thread(target=lambda: most.append(run_load(load, server, "http", **command)["open"]))
        thread.start()
        seen = 0
        while thread.is_alive():
            seen = max(seen, server.order(do="read")["sessions"])
            thread.join(0.25)
    return min(seen, most[0])


def swap_lost(load: Path, seconds: float) -> dict[str, int]:
    """Requests that were refused or lost while weights were swapped under load."""
    found: list[dict[str, Any]] = []
    with ServerProcess() as server:

        def play() -> None:
            found.append(run_load(load, server, "http", connections=CONNECTIONS, sessions=CONNECTIONS, seconds=seconds))

        thread = threading.Thread(target=play)
        thread.start()
        swaps = server.order(do="swap", count=SWAPS, seconds=seconds * 0.8)["swaps"]
        thread.join()
    return {"swaps": swaps, "ticks": found[0]["ticks"], "lost": found[0]["refused"] + found[0]["lost"]}


def batching_gain(load: Path, seconds: float) -> dict[str, float]:
    """Ticks a second with batches over those with one row a call, at 256 connections."""
    rates = {}
    for name, single in (("batched", False), ("single", True)):
        with ServerProcess() as server:
            server.order(do="single", on=single)
            shared = {"connections": BATCHING_CLIENTS, "sessions": BATCHING_CLIENTS}
            run_load(load, server, "http", seconds=1, **shared)
            rates[name] = run_load(load, server, "http", seconds=seconds, **shared)["ticks_per_s"]
    return {**rates, "gain": round(rates["batched"] / rates["single"], 2)}


def measure(seconds: float, ray_serve: bool) -> dict[str, Any]:
    """All of it; each part is named on standard error as it begins."""
    with tempfile.TemporaryDirectory() as folder:
        load = build_load(Path(folder))

        def transport(scheme: str) -> dict[str, Any]:
            return {**saturated(load, scheme, seconds), "cpu_us_by_stage": by_stage(load, scheme, seconds)}

        parts: dict[str, Callable[[], Any]] = {
            "http": lambda: transport("http"),
            "tcp": lambda: transport("tcp"),
            "grpc": lambda: measure_grpc(seconds),
            "paced": lambda: {scheme: paced(load, scheme, seconds) for scheme in ("http", "tcp")},
            "open_sessions": lambda: open_sessions(load),
            "swaps": lambda: swap_lost(load, max(seconds, 5.0)),
            "batching": lambda: batching_gain(load, seconds),
            "ray_serve": lambda: measure_ray_serve(load, seconds) if ray_serve else "not asked for",
        }
        found = {}
        for name, run in parts.items():
            print(f"{name} …", file=sys.stderr, flush=True)
            found[name] = run()
    return {**found, "swap_lost": found["swaps"]["lost"], "batching_gain": found["batching"]["gain"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of each measurement")
    parser.add_argument("--no-ray-serve", action="store_true", help="leave out the comparison with Ray Serve")
    given = parser.parse_args()
    if shutil.which("g++") is None:
        sys.exit("this benchmark builds its load with g++, which is not installed")
    found = measure(given.seconds, not given.no_ray_serve)
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name}: {json.dumps(value)}")


if __name__ == "__main__":
    main()
