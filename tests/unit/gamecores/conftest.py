"""A gateway on free ports in a thread of its own, and C++ programs built with g++."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lanista.fakes.answers import Answers
from workers.gateway.contract import Refused
from workers.gateway.options import GatewayOptions
from workers.gateway.server import Gateway

ROOT = Path(__file__).parents[3]


@dataclass
class Served:
    """A gateway that runs."""

    http: str
    tcp: str
    gateway: Gateway

    def url(self, scheme: str) -> str:
        return {"http": self.http, "tcp": self.tcp}[scheme]


@contextmanager
def serving(play: Callable[[Gateway], Any], options: GatewayOptions | None = None) -> Iterator[Served]:
    """Run a gateway until the block ends; `play` says who answers."""
    ready: list[Served] = []
    started = threading.Event()

    async def serve() -> None:
        async with Gateway(options or GatewayOptions(http_port=0, tcp_port=0)) as gateway:
            play(gateway)
            await gateway.listen()
            http, tcp = gateway.ports["http"], gateway.ports["tcp"]
            ready.append(Served(f"http://127.0.0.1:{http}", f"tcp://127.0.0.1:{tcp}", gateway))
            ready.append(asyncio.get_running_loop())  # type: ignore[arg-type]
            started.set()
            await gateway.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert started.wait(30)
        yield ready[0]
    finally:
        ready[1].call_soon_threadsafe(ready[0].gateway.end)  # type: ignore[attr-defined]
        thread.join(30)


@pytest.fixture
def answers() -> Answers:
    """What the fake agent answers; tests change it."""
    return Answers(start=b"hello", tick=b"right", end=b"bye")


@pytest.fixture
def served(answers: Answers) -> Iterator[Served]:
    with serving(lambda gateway: gateway.play(answers, answers.runner)) as found:
        yield found


@dataclass
class OneGame:
    """Hands out one game to whoever asks what to play next."""

    left: int = 1

    def next_game(self, seconds: float, answer: Callable[[Any], None], name: str = "") -> Callable[[], None]:
        self.left -= 1
        answer({"ticket": "ticket-7", "game": name or "any", "seed": 12} if self.left >= 0 else None)
        return lambda: None


class Pairs:
    """Answers a tick only when another one is under way, as agents that wait for each other do; checks tickets."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []
        self.tickets: list[str] = []

    def handle(self, step: Any, reply: Any) -> None:
        if step.kind == "start":
            self.tickets.append(step.ticket)
            reply(step.agent.encode())
        elif step.kind == "end":
            reply(Refused(418, "a refusal, with words", 1.5))
        else:
            self.waiting.append((step, reply))
            if len(self.waiting) == 2:
                waiting, self.waiting = self.waiting, []
                for (one, answer), (other, _) in zip(waiting, reversed(waiting), strict=True):
                    answer(one.agent.encode() + b" met " + other.agent.encode())


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Builds a C++ program once, with all warnings as errors."""
    compiler = shutil.which("g++")
    folder = tmp_path_factory.mktemp("built")

    def built(source: Path) -> Path:
        if compiler is None:
            pytest.skip("g++ is not installed, so the C++ client is not tested here")
        program = folder / source.stem
        if not program.exists():
            flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread", f"-I{ROOT / 'clients/cpp'}"]
            subprocess.run([compiler, *flags, "-o", program, source], check=True, timeout=300)
        return program

    return built
