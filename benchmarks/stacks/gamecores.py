"""Processes of tic-tac-toe that call in at a gateway, as threads with the standard library's HTTP client."""

from __future__ import annotations

import http.client
import itertools
import json
import random
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
SPEC: dict[str, Any] = {
    "observation": {"type": "box", "shape": [9], "low": -1, "high": 1},
    "action": {"type": "discrete", "n": 9},
    "seats": 2,
    "max_steps": 9,
}


class Refused(Exception):
    """The gateway answered with another status than 200."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(status, words)
        self.status = status


@dataclass
class Gamecores:
    """Plays game after game on several connections until it is stopped; gateways may come and go."""

    address: str
    """host:port of the gateway."""
    count: int = 4
    pause: float = 0.0
    """Seconds before each tick, so that games are under way for a while."""
    game: str = ""
    """The game's name, where it has one: each game is then asked for, and started with its ticket."""
    tickets: Counter[str] = field(default_factory=Counter)
    """Games that were asked for, by their purpose."""
    played: int = 0
    """Games whose end was answered."""
    unanswered: int = 0
    """Games whose end was sent and not answered: they may have a result."""
    lost: int = 0
    """Games that were given up, or whose gateway was killed."""
    refusals: Counter[int] = field(default_factory=Counter)
    """Statuses of refused ticks and ends."""
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Gamecores:
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(self.count)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(10)

    def _run(self) -> None:
        me = uuid.uuid4().hex[:8]
        connection = http.client.HTTPConnection(self.address, timeout=30)
        for number in itertools.count():
            if self._stop.is_set():
                break
            self._game(connection, f"{me}-{number}")
        connection.close()

    def _game(self, connection: http.client.HTTPConnection, session: str) -> None:
        """One game, from whatever the gateway answers to its start."""
        reached = "start"
        try:
            ticket = self._next(connection) if self.game else ""
            told = self._ask(connection, session, "start", {}, ticket)
            reached = "tick"
            end = self._play(connection, session, told)
            reached = "end"
            self._ask(connection, session, "end", end)
            reached = "played"
        except Refused as refusal:
            if reached != "start":
                with self._lock:
                    self.refusals[refusal.status] += 1
            reached = "lost" if reached != "start" else "start"
            self._stop.wait(0.05)
        except (OSError, http.client.HTTPException):
            connection.close()
            reached = {"tick": "lost", "end": "unanswered"}.get(reached, reached)
            self._stop.wait(0.2)
        if reached in ("played", "unanswered", "lost"):
            with self._lock:
                setattr(self, reached, getattr(self, reached) + 1)

    def _play(self, connection: http.client.HTTPConnection, session: str, told: dict[str, Any]) -> dict[str, Any]:
        """Play to the end; returns what is to be sent with it."""
        outside = {seat["seat"]: seat["name"] for seat in told["seats"] if seat["outside"]}
        rng, board, seat, result = random.Random(told["seed"]), [0] * 9, 0, [0.0, 0.0]
        for _ in range(9):
            free = [cell for cell in range(9) if not board[cell]]
            if seat in outside:
                cell = rng.choice(free)
            else:
                shown = [(1 if mark == seat + 1 else -1) if mark else 0 for mark in board]
                tick = {"obs": shown, "legal": [not mark for mark in board], "seat": seat}
                time.sleep(self.pause)
                cell = self._ask(connection, session, "tick", tick)["action"]
            board[cell] = seat + 1
            if any(all(board[each] == seat + 1 for each in line) for line in LINES):
                result = [1.0, -1.0] if seat == 0 else [-1.0, 1.0]
                break
            seat = 1 - seat
        names = {str(number): name or "outside" for number, name in outside.items()}
        return {"returns": result, "metrics": {"moves": 9 - board.count(0)}, "played_by": names}

    def _next(self, connection: http.client.HTTPConnection) -> str:
        """Ask what to play; the ticket. Raises Refused where there is nothing."""
        connection.request("GET", f"/next?seconds=2&game={self.game}")
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise Refused(answer.status, "nothing to play")
        found = json.loads(content)
        assert found["game"] == self.game, found
        with self._lock:
            self.tickets[found["purpose"]] += 1
        return str(found["ticket"])

    def _ask(
        self, connection: http.client.HTTPConnection, session: str, kind: str, body: dict[str, Any], ticket: str = ""
    ) -> Any:
        headers = {"session": session, "step_kind": kind, **({"ticket": ticket} if ticket else {})}
        connection.request("POST", "/step", json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise Refused(answer.status, content.decode(errors="replace"))
        return json.loads(content) if content else None
