"""Kill every part at random while a sweep of 20 trials runs by ASHA; count what was lost, doubled or misjudged."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.faults.striking import KINDS, Striker, say
from benchmarks.results_file import write_results
from benchmarks.stacks.local_stack import local_stack

FILE = Path(__file__).parents[1] / "results" / "sweep_kills.json"
SPEC: dict[str, Any] = {
    "trial": {
        "game": {"id": "tic_tac_toe"},
        "model": {"id": "mlp", "hidden": [32]},
        "algorithm": {"id": "ppo", "rollout_steps": 16},
        "league": {
            "preset": "self_play",
            "champion_gate": None,
            "players": [{"name": "main"}, {"name": "random", "role": "bot", "bot": "random"}],
        },
        "generation": {"steps": 4_096, "tables": 64},
        "evaluation": {"every_generations": 1_000},
    },
    "space": {"algorithm.learning_rate": {"log_uniform": [1e-5, 1e-1]}},
    "method": "asha",
    "trials": 20,
    "parallel": 2,
    "budget": {"steps": 36_864},
    "metric": "return",
    "rungs": {"eta": 3, "first": 4_096},
    "seed": 3,
}
EVERYTHING = 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    parser.add_argument("--save", action="store_true", help="write the result to benchmarks/results")
    arguments = parser.parse_args()
    with local_stack() as stack:
        result = SweepKills(stack, random.Random(arguments.seed)).run_sweep(arguments.kills)
    if arguments.save:
        write_results(FILE, result)
    print(json.dumps(result) if arguments.json else "\n".join(f"{key}: {value}" for key, value in result.items()))
    good = result["lost"] == result["doubled"] == result["orphaned"] == result["disagreeing"] == result["audit"] == 0
    sys.exit(0 if good and result["status"] == "completed" else 1)


class SweepKills(Striker):
    """One sweep, killed while it runs."""

    def run_sweep(self, kills: int) -> dict[str, Any]:
        body = {"project": "kills", "name": "sweep", "spec": SPEC}
        sweep = str(self.stack.call("POST", "/sweeps", body)["id"])
        self._wait_until(lambda: self._values() >= 1, 300, "the first value at a rung")
        began = time.monotonic()
        for kind in self._plan(kills):
            if self._sweep(sweep)["status"] == "completed":
                break
            before = self._total()
            self._strike(kind)
            self.kills[kind] += 1
            if kind in ("supervisor", "everything"):
                self.stack.up()
            say(f"killed {kind} ({sum(self.kills.values())} kills, {self._total()} values and generations)")
            # some kills come while the last one is still being recovered from
            if self.rng.random() < 0.7:
                self._wait_for_progress(sweep, before, kind)
            time.sleep(self.rng.uniform(0.0, 4.0))
        self._wait_until(lambda: self._over(sweep), 900, "the end of the sweep")
        return self._account_sweep(sweep, time.monotonic() - began)

    def _wait_for_progress(self, sweep: str, before: int, kind: str) -> None:
        self._wait_until(lambda: self._total() > before or self._over(sweep), 400, f"progress after killing {kind}")

    def _plan(self, kills: int) -> list[str]:
        kinds = [kind for kind in KINDS if kind != "everything"]
        chosen = [kinds[place % len(kinds)] for place in range(kills - EVERYTHING)] + ["everything"] * EVERYTHING
        self.rng.shuffle(chosen)
        return chosen

    def _account_sweep(self, sweep: str, seconds: float) -> dict[str, Any]:
        audit = json.loads(self.stack.lanista("audit", "--json", check=False))
        row = self._sweep(sweep)
        statuses = self.stack.rows(
            "SELECT t.status, count(*) FROM trials t JOIN sweep_trials s ON s.trial_id = t.id GROUP BY 1"
        )
        return {
            "kills": sum(self.kills.values()),
            "kills_by_kind": dict(self.kills),
            "status": row["status"],
            "trials": row["trials_started"],
            "trials_by_status": {str(status): int(count) for status, count in statuses},
            "stopped_early": row["stopped_early"],
            "values": self._values(),
            "decisions": int(self.stack.rows("SELECT count(*) FROM sweep_decisions")[0][0]),
            "steps": row["steps"],
            "most_steps": row["most_steps"],
            "lost": audit["lost"],
            "doubled": audit["doubled"],
            "orphaned": audit["orphaned"],
            "disagreeing": audit["disagreeing"],
            "audit": 0 if audit["ok"] else 1,
            "minutes": round(seconds / 60, 1),
        }

    def _sweep(self, sweep: str) -> dict[str, Any]:
        found: dict[str, Any] = self.stack.call("GET", f"/sweeps/{sweep}", patience=300)
        return found

    def _over(self, sweep: str) -> bool:
        found = self.stack.rows("SELECT status FROM sweeps WHERE id = %s", sweep)
        return bool(found and found[0][0] in ("completed", "stopped", "failed"))

    def _total(self) -> int:
        return self._values() + int(self.stack.rows("SELECT count(*) FROM generations")[0][0])

    def _values(self) -> int:
        return int(self.stack.rows("SELECT count(*) FROM sweep_values")[0][0])


if __name__ == "__main__":
    main()
