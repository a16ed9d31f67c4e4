"""What a row of `benchmarks.cluster` starts and looks at: a small league, its commits, and the crews of each host."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks.stacks.cluster_stack import ClusterStack
from benchmarks.stacks.hosts import Host

PATIENCE = 500.0
"""Seconds for anything to happen; a busy machine is slow."""
CREW_ACTORS = ("ray::FusedActor", "ray::TrainerActor", "ray::RolloutActor")
_FAILURES = (
    "SELECT payload->>'failure' || ': ' || left(payload->>'problem', 160) FROM events "
    "WHERE trial_id = %s AND payload ? 'failure' ORDER BY id"
)


def league(*, players: int = 2, game: dict[str, Any] | None = None, **generation: Any) -> dict[str, Any]:
    """A small league of main players and a bot, with gates; it runs until it is stopped."""
    mains = [{"name": f"main{number}", "role": "main"} for number in range(1, players + 1)]
    return {
        "game": game or {"id": "tic_tac_toe"},
        "model": {"id": "mlp", "hidden": [16]},
        "seed": 3,
        "generation": {"steps": 4_000, "tables": 64, **generation},
        "league": {
            "preset": "pfsp",
            "players": [*mains, {"name": "random", "role": "bot", "bot": "random"}],
            "snapshot": {"min_steps": 4_000, "win_rate": 0.6, "max_steps": 8_000},
            "champion_gate": {"test": "sprt", "elo0": 0, "elo1": 200, "max_pairs": 32},
        },
    }


def finish(stack: ClusterStack, trial: str, least: int) -> dict[str, Any]:
    """Wait for this many generations in all, stop the trial, audit, and report."""
    most: dict[str, int] = {}

    def enough() -> bool:
        for host in stack.network.hosts.values():
            most[host.name] = max(most.get(host.name, 0), crew_processes(host))
        return sum(commits(stack, trial).values()) >= least

    until(enough, f"{least} generations")
    stack.call("POST", f"/trials/{trial}/stop", {})
    until(lambda: stack.call("GET", f"/trials/{trial}")["status"] in ("stopped", "completed"), "the trial to stop")
    return {"most_crew_processes": {name: count for name, count in most.items() if count}, **_report(stack, trial)}


def _report(stack: ClusterStack, trial: str) -> dict[str, Any]:
    made = stack.rows(
        "SELECT extract(epoch FROM finished_at - started_at)::float, steps, attempt FROM generations "
        "WHERE trial_id = %s",
        trial,
    )
    speeds = stack.rows("SELECT value FROM metrics WHERE trial_id = %s AND name = 'steps_per_second'", trial)
    gates = stack.rows("SELECT status, count(*) FROM gates WHERE trial_id = %s GROUP BY status", trial)
    audit = stack.audit()
    return {
        "generations": len(made),
        "generations_of": commits(stack, trial),
        "median_generation_seconds": round(statistics.median(row[0] for row in made), 2),
        "median_steps_per_second": round(statistics.median(row[0] for row in speeds)),
        "steps": sum(row[1] for row in made),
        "retried": sum(row[2] > 1 for row in made),
        "longest_gap_seconds": _longest_gap(stack, trial),
        "gates": {str(status): count for status, count in gates},
        "failures": [row[0] for row in stack.rows(_FAILURES, trial)],
        "audit": len(audit["findings"]),
        "audit_counts": audit["counts"],
    }


def commits(stack: ClusterStack, trial: str) -> dict[str, int]:
    """Generations of each learning player."""
    found = stack.rows(
        "SELECT p.name, count(g.number) FROM players p LEFT JOIN generations g ON g.player_id = p.id "
        "WHERE p.trial_id = %s AND p.role = 'main' GROUP BY p.name ORDER BY p.name",
        trial,
    )
    return {str(name): int(count) for name, count in found}


def wait_for_commits(stack: ClusterStack, trial: str, least: int) -> None:
    """Until each learning player has this many generations."""
    until(lambda: min(commits(stack, trial).values(), default=0) >= least, f"{least} generations of each player")


def crew_processes(host: Host) -> int:
    """How many processes of crews run on the host."""
    return sum(title.startswith(CREW_ACTORS) for title in host.processes())


def usable(stack: ClusterStack, *hosts: Host) -> bool:
    """Whether the train worker gives work to the nodes of all these hosts."""
    good = {node["host"] for node in stack.ray_nodes() if node["alive"] and not node["problem"]}
    return all(host.name in good for host in hosts)


def until(check: Callable[[], bool], what: str) -> None:
    """Wait for something; a TimeoutError names it."""
    deadline = time.monotonic() + PATIENCE
    while not check():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE:g} s for {what}")
        time.sleep(0.25)


def since(began: float) -> float:
    """Seconds since this moment."""
    return round(time.monotonic() - began, 1)


def _longest_gap(stack: ClusterStack, trial: str) -> float:
    """The longest time between two commits of one player."""
    found = stack.rows(
        "SELECT max(gap)::float FROM (SELECT extract(epoch FROM recorded_at - lag(recorded_at) OVER "
        "(PARTITION BY player_id ORDER BY number)) AS gap FROM generations WHERE trial_id = %s) AS gaps",
        trial,
    )
    return round(found[0][0] or 0.0, 1)
