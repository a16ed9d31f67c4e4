"""A gateway of two processes behind one port, as `run_gateway` starts it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.unit.gateway.fakes import HttpClient, connected

ROOT = Path(__file__).parents[3]
PROGRAM = """
import json, sys
from benchmarks.stacks.echo_gateway import EchoBuild
from workers.gateway.process import GatewayOptions, run_gateway

def ready(ports):
    print(json.dumps(ports), flush=True)

if __name__ == "__main__":
    run_gateway(GatewayOptions(http_port=0, tcp_port=0, processes=2), EchoBuild(), on_ready=ready)
"""


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, int]]]:
    program = tmp_path / "two_processes.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


async def test_sessions_survive_the_death_of_the_other_process(
    gateway: tuple[subprocess.Popen[str], dict[str, int]],
) -> None:
    process, ports = gateway
    children = [child for child in psutil.Process(process.pid).children() if "spawn_main" in " ".join(child.cmdline())]
    assert len(children) == 2
    for n in range(30):
        assert await step(ports, "start", f"g{n}") == 200
    assert [await step(ports, "tick", f"g{n}") for n in range(30)] == [200] * 30
    open_in = await sessions(ports)
    assert sum(open_in.values()) == 30 and min(open_in.values()) > 0, "the kernel spreads connections"
    os.kill(children[0].pid, signal.SIGKILL)
    async with asyncio.timeout(60):
        while len(await sessions(ports)) < 2 or sum((await sessions(ports)).values()) == 30:
            await asyncio.sleep(0.2)
    answers = [await step(ports, "tick", f"g{n}") for n in range(30)]
    lost = sum(answer != 200 for answer in answers)
    assert lost in open_in.values(), "what it had, and nothing else"
    assert {answer for answer in answers if answer != 200} == {404}
    assert [await step(ports, "start", f"new{n}") for n in range(10)] == [200] * 10
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    assert not any(child.is_running() for child in children)


async def step(ports: dict[str, int], kind: str, name: str) -> int:
    """A step over a connection of its own, which may arrive at either process."""
    for _ in range(50):
        try:
            async with connected(HttpClient, ports["http"]) as client:
                return (await client.step(kind, name, b"x"))[0]
        except (ConnectionError, asyncio.IncompleteReadError):  # it arrived at the process that ends
            await asyncio.sleep(0.05)
    raise AssertionError("no process answers")


async def sessions(ports: dict[str, int]) -> dict[str, int]:
    """Open sessions of each process, by its metrics."""
    try:
        async with connected(HttpClient, ports["http"]) as client:
            _, text = await client.get("/metrics")
    except (ConnectionError, asyncio.IncompleteReadError):
        return {}
    lines = [line.split() for line in text.decode().splitlines() if line.startswith("lanista_gateway_sessions{")]
    return {name: int(value) for name, value in lines}
