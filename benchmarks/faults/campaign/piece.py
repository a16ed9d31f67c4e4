"""One piece: a league of its own, its faults one after another, an audit after every tenth and at the end."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from typing import Any

from benchmarks.faults.campaign.arena import Arena
from benchmarks.faults.campaign.tally import WRONG, Row
from benchmarks.faults.grounds.ground import Ground
from benchmarks.faults.kinds.table import FAULTS
from benchmarks.faults.striking import say, wait_until

SPEC: dict[str, Any] = {
    "game": {"id": "connect_four"},
    "model": {"id": "mlp", "hidden": [64, 64]},
    "seed": 5,
    "league": {
        "preset": "alphastar",
        "players": [
            {"name": "main", "role": "main"},
            {"name": "second-main", "role": "main"},
            {"name": "main-exploiter", "role": "main_exploiter"},
            {"name": "league-exploiter", "role": "league_exploiter"},
        ],
        "snapshot": {"min_steps": 80_000, "win_rate": 0.6, "max_steps": 160_000},
        "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 35, "alpha": 0.05, "beta": 0.05, "max_pairs": 200},
    },
    "generation": {"steps": 40_000, "tables": 256},
}
AUDIT_EVERY = 10
CALM_SECONDS = 30.0


class Piece:
    """Makes the faults of a row that are not made yet; `save` is called after each."""

    def __init__(self, row: Row, ground: Ground, save: Callable[[], None]) -> None:
        self._row = row
        self._ground = ground
        self._save = save

    def run(self) -> None:
        """From the start of the stack to the last audit; continues where the row ends."""
        row = self._row
        self._ground.open()
        arena = Arena(self._ground, self._trial(), random.Random(f"{row['piece']}:{len(row['faults'])}"))
        wait_until(lambda: arena.generations() >= 4, 600, "the first generations")
        if not row.get("calm_steps_s"):
            row["calm_steps_s"] = round(self._calm_rate(arena))
        while len(row["faults"]) < len(row["plan"]):
            began, steps = time.monotonic(), arena.steps()
            time.sleep(arena.rng.uniform(0.0, 3.0))
            self._fault(arena, row["plan"][len(row["faults"])])
            row["seconds"] = round(row["seconds"] + time.monotonic() - began, 1)
            row["steps"] += max(0, arena.steps() - steps)
            row["generations"] = arena.generations()
            self._save()
            if len(row["faults"]) % AUDIT_EVERY == 0 and len(row["faults"]) < len(row["plan"]):
                self._audit(arena)
        arena.stop()
        row["generations"] = arena.generations()
        self._audit(arena)
        row["state"] = "done"
        self._save()

    def _trial(self) -> str:
        """The row's trial; made on the first start."""
        if not self._row.get("trial"):
            self._row["trial"] = self._ground.stack.start_trial(SPEC)
            self._save()
        return str(self._row["trial"])

    def _calm_rate(self, arena: Arena) -> float:
        steps, began = arena.steps(), time.monotonic()
        time.sleep(CALM_SECONDS)
        return (arena.steps() - steps) / (time.monotonic() - began)

    def _fault(self, arena: Arena, kind: str) -> None:
        load = os.getloadavg()[0]
        struck = FAULTS[kind](arena)
        waited = arena.recovery(struck)
        fault = {"kind": kind, "recovery_s": round(waited, 2), "load": round(load, 1)}
        self._row["faults"].append(fault | ({"note": struck.note} if struck.note else {}))
        say(f"piece {self._row['piece']}, fault {len(self._row['faults'])}: {kind} {struck.note}: {waited:.1f} s")

    def _audit(self, arena: Arena) -> None:
        found = arena.audit()
        audit = {"after": len(self._row["faults"]), **{name: found[name] for name in WRONG}, "ok": bool(found["ok"])}
        if not found["ok"]:
            audit["disagreeing"] = found["disagreeing"]
            say(f"THE AUDIT FOUND: {found}")
        self._row["audits"].append(audit)
        self._save()
