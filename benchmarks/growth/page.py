"""Writes docs/evidence/scale.md from the recorded costs, prediction and run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FILE = ROOT / "benchmarks" / "results" / "growth.json"
PAGE = ROOT / "docs" / "evidence" / "scale.md"
INTRODUCTION = """# Growth, simulated

This page is written from `benchmarks/results/growth.json` by `python -m benchmarks.growth --simulate`; a test fails
where it states anything else. `python -m benchmarks.growth --json` measures the costs again, writes its prediction
down, runs 200 tiny players and prints the error.

Nothing larger than the leagues below was run, for a minute or two each; they fill the machine's cores. The tables of
growth are a simulation. It is a queueing network whose
stations are the parts of the system; what a generation costs each part is the CPU time that was measured here,
extended along a straight line to larger leagues. The store's time is divided among its activities by how often and how
long each ran. Gates, rating games and snapshots are not in it, so leagues that make many are full earlier.
"""
SLOW_COMMIT_MS = 2.0
PLANS = {
    "training slots": "More nodes: slots follow the cluster. This is the limit to have, since the machines then "
    "do nothing but train.",
    "Temporal": "More history shards and server processes first. Then a task queue for each group of trials, so "
    "that matching "
    "is spread over partitions; then a namespace, and at last a cluster of Temporal, for each group of "
    "projects: a trial never "
    "speaks to another one's workflows.",
    "disk of Postgres": "Commits of several connections share a flush, which is left out here; then a disk that "
    "flushes faster, and a database for each group of projects.",
    "Postgres": "Read replicas for the API, which only reads. Then `tallies`, `metrics` and `events` "
    "partitioned by trial, "
    "so that old trials are detached and not deleted. Then a database for each group of projects, as with Temporal.",
    "store worker": "More store workers on the same task queue: they share nothing. Then shards of the queue by "
    "trial, so that a "
    "large trial does not delay small ones.",
    "train worker": "More train workers: each drives crews of its own, and they give way to each other.",
    "artifacts": "An object store instead of one shared disk; then buckets by project. Versions pulled once per "
    "node and "
    "checkpoints only where they are kept (`retention`) lower the demand itself.",
}


def text(result: Mapping[str, Any]) -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    if "measured" in result:
        parts += [_costs(result), _checked(result)]
    if "growth" in result:
        parts += [_growth(result), _limits(result)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _costs(result: Mapping[str, Any]) -> str:
    measured = result["measured"]
    parts = sorted({part for sample in measured["samples"] for part in sample["cpu_seconds"]})
    rows = [
        [
            sample["players"],
            sample["generations"],
            *(f"{1000 * sample['cpu_seconds'].get(part, 0) / sample['generations']:.1f}" for part in parts),
            f"{sample['commits'] / sample['generations']:.1f}",
            f"{sample['load']:g}",
        ]
        for sample in measured["samples"]
    ]
    actions = ", ".join(f"{count:g} {kind}" for kind, count in measured["details"]["actions_per_generation"].items())
    activities = [
        [f"`{name}`", each["count"], f"{1000 * each['median_run_s']:.0f}", f"{1000 * each['median_wait_s']:.0f}"]
        for name, each in measured["details"]["activities"].items()
    ]
    last = measured["samples"][-1]
    return "\n\n".join(
        [
            "## What a generation costs",
            f"Measured {measured['at']} at {measured['commit']} on {measured['cores']} cores: CPU milliseconds "
            f"of one "
            f"generation of 512 steps, and commits, at {len(rows)} sizes of league.",
            _table(["players", "generations", *(f"{part} ms" for part in parts), "commits", "load"], rows),
            f"Temporal: {actions} a generation. A commit of one row took "
            f"{1000 * measured['commit_seconds']:.2f} ms, an empty "
            f"call to a Ray actor {1000 * measured['ray_call_seconds']:.2f} ms, a checkpoint has "
            f"{measured['details']['checkpoint_bytes']:,.0f} bytes.",
            f"Activities of {measured['details']['histories']} of the {last['players']} players, from their "
            f"histories, in ms on "
            "a machine whose cores were full:",
            _table(["activity", "count", "median run", "median wait for a worker"], activities),
        ]
    )


def _checked(result: Mapping[str, Any]) -> str:
    predicted, run = result["prediction"], result.get("run")
    lines = [
        "## The check",
        f"Predicted at {predicted['at']} for {predicted['players']} tiny players here:",
    ]
    if run is None:
        return "\n\n".join(
            [
                *lines,
                f"{predicted['generations_per_second']:g} generations a second. It was not run to its end yet, so the "
                "simulation is unchecked.",
            ]
        )
    seen = {
        "generations_per_second": run["generations"] / run["seconds"],
        "cpu_seconds_per_generation": sum(run["cpu_seconds"].values()) / run["generations"],
        "commits_per_second": run["commits"] / run["seconds"],
        "cores": sum(run["cpu_seconds"].values()) / run["seconds"],
    }
    names = {
        "generations_per_second": "generations a second",
        "cpu_seconds_per_generation": "CPU seconds a generation",
        "commits_per_second": "commits a second",
        "cores": "cores that the system could use",
    }
    rows = [
        [names[name], f"{predicted[name]:.3g}", f"{value:.3g}", f"{result['error'][name]:+.0%}"]
        for name, value in seen.items()
    ]
    loads = f"{result['measured']['samples'][-1]['load']:g} when the costs were measured, {run['load']:g} in the run"
    return "\n\n".join(
        [
            *lines,
            _table(["", "predicted", "seen", "error"], rows),
            f"The run began at {run['at']}, after the prediction, and was measured for {run['seconds']:.0f} s: "
            f"{run['generations']} "
            f"generations. The load average, which is the league's own, was {loads}.",
        ]
    )


def _growth(result: Mapping[str, Any]) -> str:
    given = result["assumptions"]
    rows = [
        [
            f"{row['players']:,}",
            f"{row['nodes']:,}",
            f"{row['generations_per_second']:g}",
            f"{row['temporal_actions_per_second']:,.0f}",
            f"{row['commits_per_second']:,.0f}",
            f"{row['artifact_gb_per_second']:.3f}",
            f"{row['fullest']}, {row['utilisation'][row['fullest']]:.0%}",
        ]
        for row in result["growth"]
    ]
    return "\n\n".join(
        [
            "## Growth",
            f"Assumed: {given['slots_per_node']} generations at once on a node, each of "
            f"{given['generation_seconds']:g} s; "
            f"trials of {given['league_players']} players; {given['temporal_cores']} cores for Temporal, "
            f"{given['postgres_cores']} "
            f"for Postgres, {given['store_worker_cores']} for store workers; a train worker for "
            f"each {given['nodes_per_train_worker']} nodes; "
            f"checkpoints of {given['checkpoint_bytes'] / 1e6:g} MB over "
            f"{given['artifact_bytes_per_second'] / 1e9:g} GB/s. "
            "A core is one of this machine's.",
            _table(
                [
                    "players",
                    "nodes",
                    "generations/s",
                    "Temporal actions/s",
                    "commits/s",
                    "artifacts GB/s",
                    "fullest part",
                ],
                rows,
            ),
        ]
    )


def _limits(result: Mapping[str, Any]) -> str:
    ordered = sorted(result["limits"].items(), key=lambda item: float(item[1]["generations_per_second"]))
    rows = [
        [
            name,
            f"{each['generations_per_second']:,.0f}",
            f"{each['temporal_actions_per_second']:,.0f}",
            f"{each['commits_per_second']:,.0f}",
            f"{each['players']:,}",
        ]
        for name, each in ordered
    ]
    first = ordered[0][0]
    plans = [f"- **{name}**: {PLANS[name]}" for name in [*(name for name, _ in ordered), "training slots"]]
    return "\n\n".join(
        [
            "## The limits, and the plan for each",
            f"Where training slots are no limit, {first} is full first. Each part alone, with the cores above, "
            f"is full at:",
            _table(["part", "generations/s", "Temporal actions/s", "commits/s", "players at work"], rows),
            f"A commit took the disk here {1000 * result['assumptions']['commit_seconds']:.2f} ms. One that takes "
            f"{SLOW_COMMIT_MS:g} ms, as behind a network, is full at "
            f"{1000 / SLOW_COMMIT_MS / result['costs']['commits']:,.0f} generations a second, where no commits share "
            "a flush.",
            "None of these plans has been carried out:",
            "\n".join(plans),
        ]
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
