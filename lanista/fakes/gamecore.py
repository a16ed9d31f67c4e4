"""Fake games by the thousand: they call a gateway at a set rate, and the time to each answer is measured."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lanista.fakes.latencies import Latencies
from lanista.fakes.scripts import BadScript, as_bytes
from lanista.simulator.wire import Address, Wire

FUNCTIONS = ("start", "tick", "end")
"""What a script may define: start(game), tick(game, tick, reply) where None ends the game, end(game, reply)."""
_RECONNECT = 0.5
"""Seconds between tries to open a lost connection."""


@dataclass(frozen=True, slots=True)
class Load:
    """What the fake games do."""

    address: Address
    sessions: int = 1
    """Open at the same time."""
    connections: int = 64
    rate: float = 0.0
    """Requests a second, of all games together; 0: each answer is followed by the next request."""
    ticks: int = 100
    """Ticks of a game; a script may end it earlier."""
    games: int = 0
    """Stop after that many; 0: go on."""
    body: bytes = b"{}"
    script: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome:
    """What has happened so far."""

    ticks: Latencies = field(default_factory=Latencies)
    requests: int = 0
    open: int = 0
    finished: int = 0
    lost: int = 0
    """Connections that broke."""
    refused: Counter[str] = field(default_factory=Counter)
    """Refusals by status and words, names of sessions left out."""
    began: float = field(default_factory=time.perf_counter)

    def record(self) -> dict[str, Any]:
        """For people and programs."""
        seconds = time.perf_counter() - self.began
        shares = {"p50_ms": 0.5, "p90_ms": 0.9, "p99_ms": 0.99, "p999_ms": 0.999}
        return {
            "seconds": round(seconds, 2),
            "ticks": self.ticks.total,
            "ticks_per_s": round(self.ticks.total / seconds, 1) if seconds else 0.0,
            **{name: round(self.ticks.percentile(share) * 1e3, 3) for name, share in shares.items()},
            "max_ms": round(self.ticks.longest * 1e3, 3),
            "open_sessions": self.open,
            "finished": self.finished,
            "lost_connections": self.lost,
            "refused": dict(self.refused),
        }


@dataclass(slots=True)
class _Game:
    number: int
    name: str
    tick: int = -1
    """The next request: -1 start, then the ticks' numbers."""
    ending: bool = False
    reply: bytes = b""


class GameLoad:
    """Runs the load until it is cancelled, or until its games are played."""

    def __init__(self, load: Load) -> None:
        self.load, self.outcome = load, Outcome()
        self.over = asyncio.Event()
        self.unfinished = 0
        """Games that have begun and are neither played nor given up."""
        self.error: Exception | None = None
        self._begun = 0
        self._run = uuid.uuid4().hex[:8]

    async def run(self, seconds: float = 0.0) -> Outcome:
        """Play for that many seconds; 0: until the games are played."""
        lanes = [_Lane(self, number) for number in range(min(self.load.connections, self.load.sessions))]
        try:
            await asyncio.gather(*(lane.connect() for lane in lanes))
            self.outcome.began = time.perf_counter()
            for lane in lanes:
                lane.begin()
            await asyncio.wait_for(self.over.wait(), seconds or None)
        except TimeoutError:
            pass
        finally:
            for lane in lanes:
                lane.stop()
        if self.error is not None:
            raise self.error
        return self.outcome

    def new_game(self) -> _Game | None:
        """The next game; None where enough have begun."""
        if self.load.games and self._begun >= self.load.games:
            return None
        self._begun += 1
        self.unfinished += 1
        return _Game(self._begun, f"fake-{self._run}-{self._begun}")

    def done(self, *, was_open: bool) -> None:
        """A game was played, or given up; the last one ends the run."""
        self.unfinished -= 1
        self.outcome.open -= was_open
        if self.load.games and self._begun >= self.load.games and not self.unfinished:
            self.over.set()

    def next_request(self, game: _Game) -> tuple[str, bytes]:
        """Kind and body of a game's next request; the script decides, where there is one."""
        script = self.load.script
        if game.tick < 0:
            return "start", self._scripted("start", game.number) if "start" in script else self.load.body
        if not game.ending and "tick" in script:
            answer = script["tick"](game.number, game.tick, game.reply)
            game.ending = answer is None
            if not game.ending:
                return "tick", as_bytes(answer, "tick()")
        if not game.ending:
            return "tick", self.load.body
        return "end", self._scripted("end", game.number, game.reply) if "end" in script else b""

    def _scripted(self, name: str, *values: object) -> bytes:
        return as_bytes(self.load.script[name](*values), f"{name}()")

    def fail(self, error: Exception) -> None:
        """End the run with an error of the script."""
        self.error = self.error or error
        self.over.set()


class _Lane:
    """One connection and the games that take turns on it."""

    def __init__(self, run: GameLoad, number: int) -> None:
        self.run, self.number = run, number
        lanes = min(run.load.connections, run.load.sessions)
        self.size = run.load.sessions // lanes + (number < run.load.sessions % lanes)
        self.interval = lanes / run.load.rate if run.load.rate else 0.0
        self.games: deque[_Game] = deque()
        self.wire: Wire | None = None
        self.sent = self.due = 0.0
        self.kind = ""
        self.stopped = False
        self.loop = asyncio.get_running_loop()
        self.timer: asyncio.TimerHandle | None = None
        self.task: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        self.wire = await self.run.load.address.connect(self.on_reply, self.on_lost)

    def begin(self) -> None:
        while len(self.games) < self.size:
            game = self.run.new_game()
            if game is None:
                break
            self.games.append(game)
        self.due = time.perf_counter() + self.interval * self.number / max(1, self.run.load.connections)
        self.next()

    def stop(self) -> None:
        self.stopped = True
        for waiting in (self.timer, self.task):
            if waiting is not None:
                waiting.cancel()
        if self.wire is not None:
            self.wire.close()

    def next(self, wait: float = 0.0) -> None:
        """Send the next game's request when it is due."""
        if self.stopped or not self.games:
            return
        now = time.perf_counter()
        if self.interval:
            self.due += self.interval
            wait = max(wait, self.due - now)
        else:
            self.due = now + wait
        if wait > 0:
            self.timer = self.loop.call_later(wait, self.send)
        else:
            self.send()

    def send(self) -> None:
        if self.stopped or self.wire is None:
            return
        game = self.games[0]
        try:
            self.kind, body = self.run.next_request(game)
        except Exception as error:
            self.run.fail(error)
            return
        # a paced request's time begins when it was due: a slow answer also delays those behind it
        self.sent = self.due if self.interval else time.perf_counter()
        self.wire.request(self.kind, game.name, body)

    def on_reply(self, status: int, body: bytes, retry_after: float) -> None:
        outcome, game = self.run.outcome, self.games.popleft()
        outcome.requests += 1
        if status != 200:
            self.refused(
                game, f"{status}: {body.decode('utf-8', 'replace').strip().replace(game.name, 'NAME')}", retry_after
            )
            return
        game.reply = body
        if self.kind == "tick":
            outcome.ticks.add(time.perf_counter() - self.sent)
        if self.kind == "end":
            outcome.finished += 1
            self.replace(was_open=True)
        else:
            outcome.open += self.kind == "start"
            game.tick += 1
            game.ending = game.ending or game.tick >= self.run.load.ticks
            self.games.append(game)
        self.next()

    def refused(self, game: _Game, text: str, retry_after: float) -> None:
        self.run.outcome.refused[text] += 1
        if self.kind == "start" and retry_after:
            self.games.append(game)
        else:
            self.replace(was_open=self.kind != "start")
        self.next(max(retry_after, 0.05))

    def replace(self, *, was_open: bool) -> None:
        """Begin another game in the place of one that is over."""
        successor = self.run.new_game()
        if successor is not None:
            self.games.append(successor)
        self.run.done(was_open=was_open)

    def on_lost(self) -> None:
        self.wire = None
        if not self.stopped:
            self.run.outcome.lost += 1
            self.task = self.loop.create_task(self.reconnect())

    async def reconnect(self) -> None:
        """Open the connection anew. The game whose request was under way is given up; the others go on."""
        if self.games:
            self.replace(was_open=self.games.popleft().tick >= 0)
        while not self.stopped and self.wire is None:
            try:
                await self.connect()
            except OSError:
                await asyncio.sleep(_RECONNECT)
        self.due = time.perf_counter()
        self.next()


__all__ = ["FUNCTIONS", "BadScript", "GameLoad", "Load", "Outcome"]
