"""Whether a long league stays small: 90 minutes of 12 learning players; memory, histories, the database, the API.

    python -m benchmarks.long_run --json [--minutes 90]

Every minute is a sample, written to benchmarks/results/long_run.json at once; a run that was stopped keeps what it saw,
and the next one is a run of its own. Memory is flat if each part's median over the last fifth of the samples is within
5 % of that over the second fifth, when every part is warm.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from benchmarks.results_file import read_results, write_results
from benchmarks.speed.histories import longest_histories
from benchmarks.stacks.http_clients import request_bytes, time_gets
from benchmarks.stacks.local_stack import LocalStack, local_stack
from lanista.stack.control import reach
from lanista.stack.processes.leftovers import leftovers

FILE = Path(__file__).parents[1] / "results" / "long_run.json"
MOST_EVENTS = 2000
MOST_GROWTH = 1.05
LEARNERS = 12
STEPS = 4096
CLIENTS, REQUESTS = 4, 50
ACTORS = ("FusedActor", "MatchHost")
SPEC: dict[str, Any] = {
    "game": {"id": "connect_four"},
    "model": {"id": "mlp", "hidden": [64, 64]},
    "algorithm": {"id": "ppo", "rollout_steps": 16},
    "seed": 5,
    "league": {
        "preset": "alphastar",
        "players": [
            *({"name": f"main-{number}", "role": "main"} for number in range(4)),
            *({"name": f"main-exploiter-{number}", "role": "main_exploiter"} for number in range(4)),
            *({"name": f"league-exploiter-{number}", "role": "league_exploiter"} for number in range(4)),
        ],
        # a snapshot, and with it a gate, every twenty generations of a player
        "snapshot": {"min_steps": 20 * STEPS, "win_rate": 0.9, "max_steps": 40 * STEPS},
        "champion_gate": {"max_pairs": 64},
    },
    "generation": {"steps": STEPS, "tables": 64},
    "evaluation": {"every_generations": 20, "games": 20},
}
Sample = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=90.0)
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two samples")
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    given = parser.parse_args()
    runs = read_results(given.file)
    name = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
    row: dict[str, Any] = {"commit": _commit(), "minutes": given.minutes, "samples": []}
    runs[name] = row
    # 50 requests of one token at a time: a limit that answers 429 would end the run
    with local_stack(LANISTA_RATE_LIMIT="0") as stack:
        trial = stack.start_trial(SPEC)
        _watch(
            stack, trial, row, minutes=given.minutes, every=given.every, save=lambda: write_results(given.file, runs)
        )
        longest = longest_histories(reach(stack.home)["LANISTA_TEMPORAL_ADDRESS"])
    row["longest_history"] = longest
    row["result"] = summary(row)
    write_results(given.file, runs)
    print(
        json.dumps(row["result"]) if given.json else "\n".join(f"{key}: {row['result'][key]}" for key in row["result"])
    )
    sys.exit(0 if row["result"]["bounded"] and row["result"]["flat"] else 1)


def _watch(stack: LocalStack, trial: str, row: dict[str, Any], *, minutes: float, every: float, save: Any) -> None:
    began = time.monotonic()
    while generations(stack, trial) < LEARNERS:
        time.sleep(1.0)
    while (elapsed := time.monotonic() - began) < 60 * minutes:
        row["samples"].append(sample(stack, trial, elapsed))
        save()
        say(f"{elapsed / 60:.0f} min, {row['samples'][-1]['generations']} generations")
        time.sleep(max(0.0, every - (time.monotonic() - began - elapsed)))


def sample(stack: LocalStack, trial: str, elapsed: float) -> Sample:
    """One look at everything that could grow."""
    return {
        "seconds": round(elapsed),
        "generations": generations(stack, trial),
        "players": int(stack.rows("SELECT count(*) FROM players WHERE trial_id = %s", trial)[0][0]),
        "database_mb": round(int(stack.rows("SELECT pg_database_size(current_database())")[0][0]) / 1e6, 1),
        "megabytes": megabytes(stack),
        "p95_ms": p95(stack, trial),
        "load": round(os.getloadavg()[0], 1),
    }


def summary(row: dict[str, Any]) -> dict[str, Any]:
    """What a run came to: the second fifth of its samples beside the last one."""
    samples: list[Sample] = row["samples"]
    fifth = max(1, len(samples) // 5)
    early, late = samples[fifth : 2 * fifth] or samples[:1], samples[-fifth:]
    parts = sorted(set(early[0]["megabytes"]) & set(late[-1]["megabytes"]))
    memory = {part: (_middle(early, "megabytes", part), _middle(late, "megabytes", part)) for part in parts}
    growth = {part: round(after / before, 3) for part, (before, after) in memory.items() if before}
    made = late[-1]["generations"] - early[0]["generations"]
    bytes_more = late[-1]["database_mb"] - early[0]["database_mb"]
    calls = sorted(late[-1]["p95_ms"])
    return {
        "minutes": round(samples[-1]["seconds"] / 60, 1),
        "generations": samples[-1]["generations"],
        "players": samples[-1]["players"],
        "growth": growth,
        "flat": all(1 / MOST_GROWTH <= times <= MOST_GROWTH for times in growth.values()),
        "longest_history": max(row["longest_history"].values()),
        "bounded": max(row["longest_history"].values()) < MOST_EVENTS,
        "database_kb_a_generation": round(1000 * bytes_more / made, 1) if made else None,
        "p95_ms": {call: [_middle(early, "p95_ms", call), _middle(late, "p95_ms", call)] for call in calls},
        "load": [min(each["load"] for each in samples), max(each["load"] for each in samples)],
    }


def _middle(samples: list[Sample], group: str, name: str) -> float:
    return round(float(median(each[group][name] for each in samples if name in each[group])), 1)


def generations(stack: LocalStack, trial: str) -> int:
    return int(stack.rows("SELECT count(*) FROM generations WHERE trial_id = %s", trial)[0][0])


def p95(stack: LocalStack, trial: str) -> dict[str, float]:
    """The 95th percentile of some reads, with a few clients, in milliseconds."""
    token = stack.home.admin_token.read_text().strip()
    root = f"/api/v1/trials/{trial}"
    paths = {"trial": root, "players": f"{root}/players", "payoff": f"{root}/payoff", "metrics": f"{root}/metrics"}
    paths |= {"ratings": f"{root}/ratings", "matches": f"{root}/matches", "gates": f"{root}/gates"}
    found = {}
    for name, path in paths.items():
        asked = request_bytes(stack.port, path, {"Authorization": f"Bearer {token}"})
        timed = time_gets(stack.port, asked, 200, clients=CLIENTS, each=REQUESTS // CLIENTS)
        found[name] = round(timed.percentile(0.95), 1)
    return found


def megabytes(stack: LocalStack) -> dict[str, float]:
    """Memory of each part: resident of a process, of Postgres and Temporal with their children, the largest actor."""
    state = stack.home.read_state()
    assert state is not None, "the stack is up"
    held: dict[str, float] = defaultdict(float)
    for part, child in state.children.items():
        with suppress(psutil.Error):
            root = psutil.Process(child.pid)
            for process in (root, *root.children(recursive=True)):
                if not _title(process).startswith("ray::"):
                    held[part] += _private(process)
    for process in leftovers(stack.home):
        with suppress(psutil.Error):
            for actor in ACTORS:
                if _title(process).startswith("ray::") and actor in _title(process):
                    held[actor] = max(held[actor], _private(process))
    return {part: round(size, 1) for part, size in held.items()}


def _title(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline()[:1])
    return ""


def _private(process: psutil.Process) -> float:
    """Its own memory without what it shares: Postgres' buffers are mapped by every backend."""
    with suppress(psutil.Error):
        memory = process.memory_info()
        return float(memory.rss - memory.shared) / 1e6
    return 0.0


def _commit() -> str:
    command = ["git", "-C", str(FILE.parent), "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
