"""The league that faults hit: its stack, its trial, and what it has committed."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Thread
from typing import Any

from benchmarks.faults.grounds.ground import Ground
from benchmarks.faults.striking import wait_until

PATIENCE = 400.0
"""Seconds; a league that has committed nothing for so long after a fault has not survived it."""


@dataclass(kw_only=True)
class Mark:
    """What was committed when a fault ended, and when that was."""

    at: float
    by_player: Mapping[str, int]


@dataclass(kw_only=True)
class Struck:
    """A fault that is over: since when, and which players it hit in particular."""

    mark: Mark
    players: tuple[str, ...] = ()
    note: str = ""


class Arena:
    """A running league on its ground."""

    def __init__(self, ground: Ground, trial: str, rng: random.Random) -> None:
        self.ground = ground
        self.stack = ground.stack
        self.trial = trial
        self.rng = rng
        self._start: Thread | None = None

    def start_stack(self) -> None:
        """Start the stack again, in the background: a generation may be committed before every part is ready."""
        self._start = Thread(target=self.stack.start)
        self._start.start()

    def mark(self) -> Mark:
        """What is committed now."""
        by_player = self.by_player()
        return Mark(at=time.monotonic(), by_player=by_player)

    def by_player(self) -> dict[str, int]:
        """Committed generations of each learning player."""
        rows = self.stack.rows(
            "SELECT player_id, count(*) FROM generations WHERE trial_id = %s GROUP BY 1", self.trial, patience=PATIENCE
        )
        return {str(player): int(count) for player, count in rows}

    def generations(self) -> int:
        return sum(self.by_player().values())

    def steps(self) -> int:
        return int(self.stack.rows("SELECT steps FROM trials WHERE id = %s", self.trial)[0][0])

    def status(self) -> str:
        return str(self.stack.rows("SELECT status FROM trials WHERE id = %s", self.trial)[0][0])

    def recovery(self, struck: Struck) -> float:
        """Seconds from the fault's end until the league, and every player that it hit, committed again."""
        before = struck.mark.by_player

        def went_on() -> bool:
            now = self.by_player()
            hit_ones = all(now.get(player, 0) > before.get(player, 0) for player in struck.players)
            return hit_ones and sum(now.values()) > sum(before.values())

        wait_until(went_on, PATIENCE, "the next commit")
        waited = time.monotonic() - struck.mark.at
        if self._start:
            self._start.join()
            self._start = None
        return waited

    def audit(self) -> dict[str, Any]:
        """`lanista audit`, retried while the store is still coming back."""
        deadline = time.monotonic() + 120
        while True:
            printed = self.stack.lanista("audit", "--json", check=False)
            if printed.strip():
                found: dict[str, Any] = json.loads(printed)
                return found
            if time.monotonic() > deadline:
                raise TimeoutError("lanista audit printed nothing for two minutes")
            time.sleep(2)

    def stop(self) -> None:
        """End the trial after the generations under way."""
        self.stack.call("POST", f"/trials/{self.trial}/stop", {"mode": "drain"}, patience=PATIENCE)
        wait_until(lambda: self.status() == "stopped", PATIENCE, "the trial to stop")
