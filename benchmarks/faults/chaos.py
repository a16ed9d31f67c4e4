"""Kill every part of a training league at random moments and count what was lost, doubled or orphaned."""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil

from benchmarks.stacks.local_stack import LocalStack, local_stack
from lanista.stack.processes.leftovers import leftovers

CHILDREN = ("store-worker", "train-worker", "api", "temporal", "postgres")
KINDS = (*CHILDREN, "ray actor", "ray head", "supervisor", "everything")
LEAST_EACH, EVERYTHING, LEAST_KILLS = 4, 2, 40
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
        "snapshot": {"min_steps": 400_000, "win_rate": 0.6, "max_steps": 800_000},
        "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 35, "alpha": 0.05, "beta": 0.05, "max_pairs": 200},
    },
    "generation": {"steps": 200_000, "tables": 512},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    arguments = parser.parse_args()
    with local_stack() as stack:
        result = Chaos(stack, random.Random(arguments.seed), arguments.minutes * 60).run()
    print(json.dumps(result) if arguments.json else "\n".join(f"{key}: {value}" for key, value in result.items()))
    sys.exit(0 if result["lost"] == result["doubled"] == result["orphaned"] == 0 and result["audit"] == 0 else 1)


def plan_kills(seconds: float, rng: random.Random) -> list[tuple[float, str]]:
    """When to kill what: each kind often enough, at random moments, none in the last tenth."""
    kinds = [kind for kind in KINDS if kind != "everything" for _ in range(LEAST_EACH)]
    kinds += ["everything"] * EVERYTHING
    while len(kinds) < LEAST_KILLS:
        kinds.append(rng.choice(KINDS[:-1]))
    rng.shuffle(kinds)
    moments = sorted(rng.uniform(0, seconds * 0.9) for _ in kinds)
    return list(zip(moments, kinds, strict=True))


class Chaos:
    """One run: an undisturbed start for comparison, the kills, and the count of losses afterwards."""

    def __init__(self, stack: LocalStack, rng: random.Random, seconds: float) -> None:
        self.stack = stack
        self.rng = rng
        self.seconds = seconds
        self.kills: Counter[str] = Counter()
        self.recoveries: list[float] = []

    def run(self) -> dict[str, Any]:
        trial = self.stack.start_trial(SPEC)
        calm = self._calm_rate(trial)
        say(f"undisturbed: {calm:,.0f} steps/s")
        steps, began = self._steps(trial), time.monotonic()
        for moment, kind in plan_kills(self.seconds, self.rng):
            time.sleep(max(0.0, began + moment - time.monotonic()))
            self._kill(kind, trial)
        time.sleep(max(0.0, began + self.seconds - time.monotonic()))
        rate = (self._steps(trial) - steps) / (time.monotonic() - began)
        self.stack.call("POST", f"/trials/{trial}/stop", {"mode": "drain"})
        self._wait_until(lambda: self._status(trial) == "stopped", 180, "the trial to stop")
        return self._account(trial, rate / calm)

    def _calm_rate(self, trial: str) -> float:
        self._wait_until(lambda: self._generations(trial) >= 4, 180, "the first generations")
        steps, began = self._steps(trial), time.monotonic()
        time.sleep(min(60.0, self.seconds / 4))
        return (self._steps(trial) - steps) / (time.monotonic() - began)

    def _kill(self, kind: str, trial: str) -> None:
        """Kill, bring back what cannot come back by itself, and wait for the next committed generation."""
        before = self._generations(trial)
        killed = time.monotonic()
        self._strike(kind)
        self.kills[kind] += 1
        if kind in ("supervisor", "everything"):
            self.stack.up()
        self._wait_until(lambda: self._generations(trial) > before, 180, f"a generation after killing {kind}")
        self.recoveries.append(time.monotonic() - killed)
        say(f"killed {kind}: next generation after {self.recoveries[-1]:.1f} s ({sum(self.kills.values())} kills)")

    def _strike(self, kind: str) -> None:
        state = self.stack.home.read_state()
        assert state is not None
        if kind in CHILDREN:
            pid = state.children[kind].pid
            self._signal([pid] if pid else [])
        elif kind == "ray head":
            self._signal(self._named(lambda name: "gcs_server" in name))
        elif kind == "ray actor":
            actors = self._named(lambda name: name.startswith("ray::") and "IDLE" not in name and "Agent" not in name)
            self._signal([self.rng.choice(actors)] if actors else [])
        else:
            everyone = leftovers(self.stack.home) if kind == "everything" else []
            self._signal([state.pid, *(process.pid for process in everyone)])

    def _named(self, matches: Callable[[str], bool]) -> list[int]:
        found = []
        for process in leftovers(self.stack.home):
            with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                if matches(process.name()) or matches((process.cmdline() or [""])[0]):
                    found.append(process.pid)
        return found

    @staticmethod
    def _signal(pids: list[int]) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _account(self, trial: str, share: float) -> dict[str, Any]:
        audit = json.loads(self.stack.lanista("audit", "--json", check=False))
        players = self.stack.rows("SELECT player_id, count(*) FROM generations WHERE trial_id = %s GROUP BY 1", trial)
        return {
            "kills": sum(self.kills.values()),
            "kills_by_kind": dict(self.kills),
            "generations": self._generations(trial),
            "fewest_by_a_player": min(count for _, count in players) if len(players) == 4 else 0,
            "lost": audit["lost"],
            "doubled": audit["doubled"],
            "orphaned": audit["orphaned"],
            "damaged": audit["damaged"],
            "audit": 0 if audit["ok"] else 1,
            "longest_recovery_s": round(max(self.recoveries), 1),
            "throughput_share": round(share, 3),
        }

    def _generations(self, trial: str) -> int:
        return int(self.stack.rows("SELECT count(*) FROM generations WHERE trial_id = %s", trial)[0][0])

    def _steps(self, trial: str) -> int:
        return int(self.stack.rows("SELECT steps FROM trials WHERE id = %s", trial)[0][0])

    def _status(self, trial: str) -> str:
        return str(self.stack.rows("SELECT status FROM trials WHERE id = %s", trial)[0][0])

    @staticmethod
    def _wait_until(check: Callable[[], bool], patience: float, what: str) -> None:
        deadline = time.monotonic() + patience
        while not check():
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {patience:g} s for {what}")
            time.sleep(0.25)


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
