"""Takes the costs of a generation from a real league of tiny players on a local stack."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import datetime
from typing import Any

import psutil
import psycopg
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from benchmarks.growth.costs import Sample
from benchmarks.stacks.local_stack import LocalStack
from lanista.stack.control import reach

STEPS = 512
ACTIONS = {
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: "activities",
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: "signals",
    EventType.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED: "signals",
    EventType.EVENT_TYPE_TIMER_STARTED: "timers",
    EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED: "workflow tasks",
}
HISTORIES = 4
"""Players whose histories are read."""


def spec(players: int) -> dict[str, Any]:
    """A league of tiny players that all learn against each other; no snapshots and no gates."""
    return {
        "game": {"id": "rock_paper_scissors"},
        "model": {"id": "mlp", "hidden": [16]},
        "algorithm": {"id": "ppo", "rollout_steps": 8},
        "seed": 7,
        "league": {
            "preset": "pfsp",
            "players": [{"name": f"p{number}", "role": "main"} for number in range(players)],
            "snapshot": {"min_steps": 10**12, "win_rate": 1.0, "max_steps": 10**12},
            "champion_gate": None,
        },
        "generation": {"steps": STEPS, "tables": 64},
    }


def measure(stack: LocalStack, players: int, *, seconds: float, warm_up: float) -> tuple[Sample, dict[str, Any]]:
    """A league of so many players for some seconds, after each has trained once or `warm_up` seconds have passed."""
    trial = stack.start_trial(spec(players), name=f"growth-{players}")
    _wait_until_warm(stack, trial, players, warm_up)
    before, began = _counters(stack, trial), time.monotonic()
    time.sleep(seconds)
    after, ended = _counters(stack, trial), time.monotonic()
    details = asyncio.run(_history_costs(reach(stack.home)["LANISTA_TEMPORAL_ADDRESS"], _players(stack, trial)))
    details["checkpoint_bytes"] = float(
        stack.rows("SELECT avg(size) FROM model_versions WHERE trial_id = %s AND size > 0", trial)[0][0] or 0
    )
    stack.call("POST", f"/trials/{trial}/stop", {"mode": "now"})
    sample = Sample(
        players=players,
        seconds=round(ended - began, 2),
        generations=after["generations"] - before["generations"],
        cpu_seconds={
            part: round(used - before["cpu"].get(part, 0.0), 2)
            for part, used in after["cpu"].items()
            if used > before["cpu"].get(part, 0.0)
        },
        commits=after["commits"] - before["commits"],
        load=round(os.getloadavg()[0], 2),
    )
    return sample, details


def _wait_until_warm(stack: LocalStack, trial: str, players: int, most: float) -> None:
    deadline = time.monotonic() + most
    while _generations(stack, trial) < players and (time.monotonic() < deadline or not _generations(stack, trial)):
        time.sleep(2)


def _generations(stack: LocalStack, trial: str) -> int:
    return int(stack.rows("SELECT count(*) FROM generations WHERE trial_id = %s", trial)[0][0])


def _players(stack: LocalStack, trial: str) -> list[str]:
    """The players with the most generations: others may not have begun."""
    query = "SELECT player_id FROM generations WHERE trial_id = %s GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT %s"
    return [str(row[0]) for row in stack.rows(query, trial, HISTORIES)]


def _counters(stack: LocalStack, trial: str) -> dict[str, Any]:
    query = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
    return {
        "generations": _generations(stack, trial),
        "commits": int(stack.rows(query)[0][0]),
        "cpu": cpu_by_part(stack),
    }


def cpu_by_part(stack: LocalStack) -> dict[str, float]:
    """CPU seconds so far of each part of the stack; what runs in Ray's actors is apart from Ray itself."""
    state = stack.home.read_state()
    assert state is not None, "the stack is up"
    used: dict[str, float] = defaultdict(float)
    pids = {name: child.pid for name, child in state.children.items() if child.pid is not None}
    for name, pid in pids.items():
        with suppress(psutil.NoSuchProcess):
            top = psutil.Process(pid)
            own = top.cpu_times()
            used[name] += own.children_user + own.children_system
            for process in [top, *top.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                    times, title = process.cpu_times(), (process.cmdline() or [""])[0]
                    part = "actors" if title.startswith("ray::") else name
                    used[part] += times.user + times.system
    return dict(used)


async def _history_costs(address: str, players: list[str]) -> dict[str, Any]:
    """Actions of Temporal in a generation, and how long each activity waited and ran, from workflow histories."""
    client = await Client.connect(address)
    actions: Counter[str] = Counter()
    waits: dict[str, list[float]] = defaultdict(list)
    runs: dict[str, list[float]] = defaultdict(list)
    generations = 0
    for player in players:
        names: dict[int, tuple[str, datetime]] = {}
        started: dict[int, datetime] = {}
        async for event in client.get_workflow_handle(f"player-{player}").fetch_history_events():
            kind = ACTIONS.get(event.event_type)
            if kind is not None:
                actions[kind] += 1
            at = event.event_time.ToDatetime()
            if event.HasField("activity_task_scheduled_event_attributes"):
                scheduled = event.activity_task_scheduled_event_attributes
                names[event.event_id] = scheduled.activity_type.name, at
            elif event.HasField("activity_task_started_event_attributes"):
                begun = event.activity_task_started_event_attributes.scheduled_event_id
                started[event.event_id] = at
                waits[names[begun][0]].append((at - names[begun][1]).total_seconds())
            elif event.HasField("activity_task_completed_event_attributes"):
                done = event.activity_task_completed_event_attributes
                name = names[done.scheduled_event_id][0]
                runs[name].append((at - started[done.started_event_id]).total_seconds())
                generations += name == "record_generation"
    return {
        "histories": len(players),
        "generations": generations,
        "actions_per_generation": {kind: round(count / max(1, generations), 2) for kind, count in actions.items()},
        "activities": {
            name: {
                "count": len(found),
                "median_run_s": round(statistics.median(found), 4),
                "median_wait_s": round(statistics.median(waits[name]), 4),
            }
            for name, found in sorted(runs.items())
        },
    }


def commit_seconds(stack: LocalStack, commits: int = 100) -> float:
    """The median time of a commit of one row, on one connection."""
    url = reach(stack.home)["LANISTA_DATABASE_URL"].replace("+psycopg", "")
    times = []
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE growth_commits (number int)")
        connection.commit()
        for number in range(commits):
            connection.execute("INSERT INTO growth_commits VALUES (%s)", [number])
            began = time.perf_counter()
            connection.commit()
            times.append(time.perf_counter() - began)
        connection.execute("DROP TABLE growth_commits")
        connection.commit()
    return statistics.median(times)


def ray_call_seconds(calls: int = 200) -> float:
    """The median time of an empty call to an actor, on a Ray of its own, in a process of its own."""
    code = (
        "import ray, statistics, sys, time\n"
        "ray.init(address='local', num_cpus=1, include_dashboard=False, log_to_driver=False)\n"
        "@ray.remote\nclass Empty:\n    def call(self): return None\n"
        "actor = Empty.remote(); ray.get(actor.call.remote()); times = []\n"
        f"for _ in range({calls}):\n"
        "    began = time.perf_counter(); ray.get(actor.call.remote()); times.append(time.perf_counter() - began)\n"
        "print(statistics.median(times))\n"
    )
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])
