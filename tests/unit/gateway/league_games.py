"""A gateway of the league in a thread, with a process of tic-tac-toe that calls in, for tests."""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.gateway.contract import Refused, Step, StepKind
from workers.gateway.league.access import GatewayAccess
from workers.gateway.league.building import LeagueBuilder, runner_factory
from workers.gateway.league.director import LeagueDirector
from workers.gateway.league.server import ControlServer

KEY = "a key that both ends have"
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
SPEC: dict[str, Any] = {
    "observation": {"type": "box", "shape": [9], "low": -1, "high": 1},
    "action": {"type": "discrete", "n": 9},
    "seats": 2,
    "max_steps": 9,
}
GAME = Component(id="remote", options={"spec": SPEC, "agent": "generic"})

Ask = Callable[[StepKind, dict[str, Any]], Awaitable[Any]]
"""Sends one request of a session and returns the reply."""


class Gone(Exception):
    """The session was refused or aborted."""


async def play_tic_tac_toe(ask: Ask) -> list[float]:
    """One game, as an outside process plays it: it knows the rules, and asks who moves where."""
    told = await ask(StepKind.START, {})
    outside = {seat["seat"]: seat["name"] for seat in told["seats"] if seat["outside"]}
    rng, board, seat, result = random.Random(told["seed"]), [0] * 9, 0, [0.0, 0.0]
    for _ in range(9):
        free = [cell for cell in range(9) if not board[cell]]
        if seat in outside:
            cell = rng.choice(free)
        else:
            shown = [(1 if mark == seat + 1 else -1) if mark else 0 for mark in board]
            legal = [not mark for mark in board]
            cell = (await ask(StepKind.TICK, {"obs": shown, "legal": legal, "seat": seat}))["action"]
        assert cell in free
        board[cell] = seat + 1
        if any(all(board[cell] == seat + 1 for cell in line) for line in LINES):
            result = [1.0, -1.0] if seat == 0 else [-1.0, 1.0]
            break
        seat = 1 - seat
    end: dict[str, Any] = {"returns": result, "metrics": {"moves": 9 - board.count(0)}}
    await ask(StepKind.END, {**end, "played_by": {str(s): name for s, name in outside.items()}})
    return result


@dataclass
class GatewayThread:
    """One gateway process's worth: director, control port, and gamecores that play as long as there is work."""

    store: Path
    gamecores: int = 4
    port: int = 0
    played: int = 0
    refused: list[str] = field(default_factory=list)
    tls: ssl.SSLContext | None = None

    def __post_init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    @property
    def access(self) -> GatewayAccess:
        return GatewayAccess(addresses=(f"127.0.0.1:{self.port}",), key=KEY)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._serve())
        self.loop.close()

    async def _serve(self) -> None:
        self._stopping = asyncio.Event()
        self.director = LeagueDirector()
        self.runners: dict[str, Any] = {}
        self.director.withdraw = self._withdraw
        control = ControlServer(self.director, LeagueBuilder(ArtifactStore(str(self.store))), KEY)
        self.port = await control.start("127.0.0.1", self.port, self.tls)
        self._make = runner_factory(self.director, self.loop)
        cores = [asyncio.create_task(self._gamecore(number)) for number in range(self.gamecores)]
        self._ready.set()
        await self._stopping.wait()
        for core in cores:
            core.cancel()
        await asyncio.gather(*cores, return_exceptions=True)
        await control.stop()

    def _withdraw(self, chosen: Any, reason: str) -> int:
        gone = [runner for runner in self.runners.values() if chosen(runner.cast)]
        for runner in gone:
            runner.abort(reason)
        return len(gone)

    async def _gamecore(self, number: int) -> None:
        games = 0
        while True:
            games += 1
            name = f"core-{number}-{games}"
            try:
                await play_tic_tac_toe(lambda kind, body, name=name: self._ask(name, kind, body))
                self.played += 1
            except Gone as refusal:
                self.refused.append(str(refusal))
                await asyncio.sleep(0.02)
            finally:
                self.runners.pop(name, None)

    async def _ask(self, name: str, kind: StepKind, body: dict[str, Any]) -> Any:
        await asyncio.sleep(0)  # as a game that lies elsewhere would
        if kind is StepKind.START:
            try:
                self.runners[name] = self._make(name, self.director.cast(name, ""))
            except Refused as refusal:
                raise Gone(refusal.text) from None
        answered: asyncio.Future[bytes | Refused] = self.loop.create_future()
        self.runners[name].step(Step(name, kind, json.dumps(body).encode()), answered.set_result)
        answer = await answered
        if isinstance(answer, Refused):
            raise Gone(answer.text)
        return json.loads(answer) if answer else None
