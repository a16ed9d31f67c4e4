"""The load over gRPC streams: a Python process, as there is no gRPC for C++ here; so the client is the bottleneck."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from typing import Any

import grpc
import numpy as np

from benchmarks.gateway.measuring import HERE, ServerProcess
from workers.gateway.rpc.generated import gamecore_pb2 as pb
from workers.gateway.rpc.generated.gamecore_pb2_grpc import GamecoreStub

TICKS, SESSIONS = 100, 64


def measure_grpc(seconds: float) -> dict[str, Any]:
    """64 sessions with a stream each; beside it all on one stream, which sends together what is due together."""
    return {**_measured(seconds, SESSIONS), "one_stream": _measured(seconds, 1)}


def _measured(seconds: float, streams: int) -> dict[str, Any]:
    with ServerProcess("--grpc") as server:
        before = server.order(do="read")
        command = [sys.executable, "-m", "benchmarks.gateway.grpc_load", str(server.ports["grpc"])]
        options = ["--seconds", str(seconds), "--streams", str(streams)]
        done = subprocess.run([*command, *options], stdout=subprocess.PIPE, text=True, check=True, cwd=HERE.parents[1])
        after = server.order(do="read")
    measured: dict[str, Any] = json.loads(done.stdout)
    ticks = max(1, measured.pop("all_ticks"))
    return {**measured, "server_cpu_us": round(1e6 * (after["cpu_s"] - before["cpu_s"]) / ticks, 1)}


class _Stream:
    """Sessions that share a stream."""

    def __init__(self, stub: Any, sessions: range, latencies: list[float]) -> None:
        self._call = stub.Play()
        self._names = {number: f"grpc-{os.getpid()}-{number}" for number in sessions}
        self._tick = dict.fromkeys(sessions, -1)
        self._sent: dict[int, float] = {}
        self._latencies = latencies
        self._body = (np.arange(32, dtype=np.float32) / 32).tobytes()
        self.refused = self.ticks = 0

    async def run(self) -> None:
        await self._send(list(self._names))
        async for replies in self._call:
            now = time.perf_counter()
            for reply in replies.replies:
                self._take(reply, now)
            await self._send([reply.id for reply in replies.replies])

    def _take(self, reply: Any, now: float) -> None:
        number = reply.id
        if reply.HasField("refusal"):
            self.refused += 1
        elif 0 <= self._tick[number] < TICKS:
            self.ticks += 1
            self._latencies.append(now - self._sent[number])
        self._tick[number] += 1
        if self._tick[number] > TICKS:
            self._tick[number] = -1

    async def _send(self, numbers: list[int]) -> None:
        now, steps = time.perf_counter(), []
        for number in numbers:
            tick = self._tick[number]
            kind = pb.STEP_KIND_START if tick < 0 else pb.STEP_KIND_TICK if tick < TICKS else pb.STEP_KIND_END
            body = self._body if kind == pb.STEP_KIND_TICK else b""
            steps.append(pb.Step(id=number, kind=kind, session=self._names[number], body=body))
            self._sent[number] = now
        await self._call.write(pb.Steps(steps=steps))

    def cancel(self) -> None:
        self._call.cancel()


async def play(port: int, seconds: float, streams: int) -> dict[str, Any]:
    """Tick as fast as answers come."""
    latencies: list[float] = []
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = GamecoreStub(channel)  # type: ignore[no-untyped-call]
        each = SESSIONS // streams
        made = [_Stream(stub, range(at * each, (at + 1) * each), latencies) for at in range(streams)]
        tasks = [asyncio.create_task(stream.run()) for stream in made]
        await asyncio.sleep(1.0)  # warm
        warm = len(latencies)
        began = time.perf_counter()
        await asyncio.sleep(seconds)
        taken, lasted = len(latencies) - warm, time.perf_counter() - began
        for stream in made:
            stream.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    sorted_ms = np.sort(np.array(latencies[warm : warm + taken])) * 1e3
    return {
        "ticks_per_s": round(taken / lasted, 1),
        "p50_ms": round(float(np.quantile(sorted_ms, 0.5)), 3),
        "p99_ms": round(float(np.quantile(sorted_ms, 0.99)), 3),
        "refused": sum(stream.refused for stream in made),
        "all_ticks": sum(stream.ticks for stream in made),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--streams", type=int, default=SESSIONS)
    given = parser.parse_args()
    print(json.dumps(asyncio.run(play(given.port, given.seconds, given.streams))))


if __name__ == "__main__":
    main()
