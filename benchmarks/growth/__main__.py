"""Where the orchestration's first limit lies: a simulation from measured costs, checked against a real run.

    python -m benchmarks.growth --json        measure, predict, write the prediction down, run, print the error
    python -m benchmarks.growth --simulate    the table of growth and the page again, from the recorded costs
    python -m benchmarks.growth --check       whether docs/evidence/scale.md states what is recorded

The prediction is in benchmarks/results/growth.json, with its time, before the run that it is about starts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from benchmarks.growth import page
from benchmarks.growth.cluster import Cluster, assumptions, limits, one_machine, row
from benchmarks.growth.costs import Costs, Sample, costs_at, store_shares
from benchmarks.growth.measure import commit_seconds, measure, ray_call_seconds
from benchmarks.results_file import read_results, write_results
from benchmarks.stacks.local_stack import LocalStack, local_stack

SIZES = (8, 48)
CHECKED = 200
PLAYERS = (10, 100, 1_000, 10_000)
NODES = (10, 100, 1_000)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON on stdout")
    parser.add_argument("--seconds", type=float, default=60.0, help="length of each measurement")
    parser.add_argument("--simulate", action="store_true", help="measure nothing; use the recorded costs")
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 where the page differs")
    given = parser.parse_args()
    if given.check:
        sys.exit(0 if page.PAGE.read_text(encoding="utf-8") == page.text(read_results(page.FILE)) else 1)
    if not given.simulate:
        with local_stack() as stack:
            _measure_and_check(stack, given.seconds)
    result = grow(read_results(page.FILE))
    write_results(page.FILE, result)
    page.PAGE.write_text(page.text(result), encoding="utf-8")
    print(json.dumps(result) if given.json else page.text(result))


def _measure_and_check(stack: LocalStack, seconds: float) -> None:
    """Measure the costs, write the prediction down, run the league that it is about, and write what came of it."""
    found: dict[str, Any] = {
        "at": _now(),
        "commit": _commit(),
        "cores": os.cpu_count(),
        "commit_seconds": round(commit_seconds(stack), 6),
        "ray_call_seconds": round(ray_call_seconds(), 6),
        "samples": [],
    }
    for players in SIZES:
        sample, details = measure(stack, players, seconds=seconds, warm_up=60.0)
        _say(f"{players} players: {sample.rate:.2f} generations/s, {sample.cores:.2f} cores, load {sample.load:g}")
        found["samples"].append(asdict(sample))
        found["details"] = details
    result = {"measured": found, "prediction": predict(found)}
    write_results(page.FILE, result)  # before the run
    _say(f"prediction: {result['prediction']}")
    began = _now()
    sample, details = measure(stack, CHECKED, seconds=1.5 * seconds, warm_up=150.0)
    result["run"] = {"at": began, **asdict(sample), "details": details}
    result["error"] = error(result["prediction"], sample)
    write_results(page.FILE, result)
    _say(f"seen: {sample.rate:.2f} generations/s, {sample.cores:.2f} cores; error {result['error']}")


def costs_of(measured: dict[str, Any], players: int) -> Costs:
    """The costs of a generation in a league of so many players."""
    small, large = (Sample.from_json(each) for each in measured["samples"])
    details = measured["details"]
    actions = sum(details["actions_per_generation"].values())
    return costs_at(players, small, large, actions, store_shares(details["activities"]))


def predict(measured: dict[str, Any]) -> dict[str, Any]:
    """What a league of 200 tiny players will do on this machine, with the cores that the larger sample could use."""
    costs = costs_of(measured, CHECKED)
    cores = Sample.from_json(measured["samples"][-1]).cores
    expected = one_machine(CHECKED, costs, cores)
    return {
        "at": _now(),
        "players": CHECKED,
        "cores": round(cores, 3),
        **{name: round(value, 3) for name, value in expected.items()},
        "cpu_seconds_per_generation": round(sum(costs.cpu_seconds.values()), 4),
    }


def error(prediction: dict[str, Any], sample: Sample) -> dict[str, float]:
    """By how much the prediction was above what was seen, as a share of it; also with the cores that there were."""
    each = sum(sample.cpu_seconds.values()) / sample.generations
    return {
        "generations_per_second": round(prediction["generations_per_second"] / sample.rate - 1, 3),
        "cpu_seconds_per_generation": round(prediction["cpu_seconds_per_generation"] / each - 1, 3),
        "commits_per_second": round(prediction["commits_per_second"] / (sample.commits / sample.seconds) - 1, 3),
        "cores": round(prediction["cores"] / sample.cores - 1, 3),
    }


def grow(result: dict[str, Any]) -> dict[str, Any]:
    """The recorded measurements with the table of growth."""
    measured = result["measured"]
    cluster = Cluster(
        nodes=NODES[-1],
        commit_seconds=measured["commit_seconds"],
        ray_call_seconds=measured["ray_call_seconds"],
    )
    costs = costs_of(measured, cluster.league_players)
    rows = [
        row(players, Cluster(**{**asdict(cluster), "nodes": nodes}), costs) for players in PLAYERS for nodes in NODES
    ]
    return result | {
        "assumptions": dict(assumptions(cluster)),
        "costs": asdict(costs),
        "growth": rows,
        "limits": limits(cluster, costs),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _commit() -> str:
    git = shutil.which("git") or "git"
    done = subprocess.run([git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip()


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
