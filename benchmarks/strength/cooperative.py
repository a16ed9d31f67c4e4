"""Cooperative algorithms beside independent PPO: the two-step game, signals, and mpe2's simple_spread.

    python -m benchmarks.cooperative --json [--only two_step,signals] [--seeds 1,2,3] [--file FILE]

Trains each algorithm of a task with each seed for the same number of environment steps and plays greedy games with the
result. A row a run is kept in the file; a second call runs only what is missing. The summary has each algorithm's mean
return and its 95 % interval (Student's t), and whether the interval lies above that of independent PPO. simple_spread
needs mpe2 (`pip install 'lanista[mpe]'`).
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from scipy.stats import t as student

from benchmarks.peers.rates import say
from league.types import VersionId
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.actors import FusedActor
from workers.crews.plan import crew_plan
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask, Randomness

FILE = Path(__file__).parents[1] / "results" / "cooperative.json"
BASELINE = "ppo"
_EXPLORED = {"explore_least": 1.0, "learning_rate": 0.005, "target_every": 20, "warm_up": 100, "replay_ratio": 8.0}
_ON_POLICY = {"rollout_steps": 25, "learning_rate": 0.002, "gamma": 0.95}
_OFF_POLICY = {"learning_rate": 0.001, "gamma": 0.95, "explore_steps": 100_000, "minibatch": 512, "rollout_steps": 5}


@dataclass(frozen=True, kw_only=True)
class Task:
    """A game, how long it is learnt, and the options of each algorithm by a label."""

    game: Component
    steps: int
    tables: int
    algorithms: Mapping[str, tuple[str, Mapping[str, Any]]]
    model: Component = field(default_factory=lambda: Component(id="mlp", options={"hidden": [64, 64]}))
    games: int = 200


TASKS = {
    "two_step": Task(
        game=Component(id="two_step"),
        steps=12_800,
        tables=32,
        algorithms={
            "ppo": ("ppo", {}),
            "vdn": ("vdn", _EXPLORED),
            "qmix": ("qmix", _EXPLORED),
            "mappo": ("mappo", {}),
            "coma": ("coma", {}),
        },
    ),
    "signals": Task(
        game=Component(id="signals"),
        steps=60_000,
        tables=64,
        algorithms={
            "ppo": ("ppo", {}),
            "atoc": ("atoc", {"entropy": 0.05}),
            "atoc without communication": ("atoc", {"entropy": 0.05, "communicate": False}),
        },
    ),
    "simple_spread": Task(
        game=Component(
            id="pettingzoo_parallel",
            options={"env": "mpe2.simple_spread_v3:parallel_env", "teams": "one", "max_steps": 25},
        ),
        steps=60_000,
        tables=32,
        algorithms={
            "ppo": ("ppo", {**_ON_POLICY, "entropy": 0.01}),
            "mappo": ("mappo", _ON_POLICY),
            "coma": ("coma", _ON_POLICY),
            "vdn": ("vdn", _OFF_POLICY),
            "qmix": ("qmix", _OFF_POLICY),
        },
    ),
}


def run(task: Task, label: str, seed: int) -> dict[str, Any]:
    """Learn with one seed; returns what the result earns a game, and what it took."""
    id, options = task.algorithms[label]
    generation = GenerationTask(
        game=task.game,
        model=task.model,
        algorithm=Component(id=id, options=dict(options)),
        steps=task.steps,
        seed=seed,
        tables=task.tables,
        player="main",
    )
    with tempfile.TemporaryDirectory() as folder:
        store = ArtifactStore(folder)
        actor = FusedActor(crew_plan(generation), store, 0)
        actor.set_up()
        actor.prepare(replace(generation, seed=1000 * seed), True)
        begun, cpu = time.monotonic(), time.process_time()
        rollout = actor._training.algorithm.options.rollout_steps * task.tables
        report = actor.advance(math.ceil(task.steps / rollout))
        spent = {"seconds": time.monotonic() - begun, "cpu_seconds": time.process_time() - cpu}
        ref = actor.save(report.steps, [actor.store_buffer()])
        entrant = Entrant(id=VersionId(label), checkpoint=ref)
        match = MatchTask(
            game=task.game, entrants=(entrant,), pairs=task.games, seed=7, randomness=Randomness(sampled=False)
        )
        earned = play_match(match, store=store).mean_return()
    return {"steps": report.steps, "return": earned, **{name: round(value, 2) for name, value in spent.items()}}


def interval(values: list[float]) -> tuple[float, float]:
    """The mean's 95 % interval by Student's t; the mean twice for one value."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, mean
    half = float(student.ppf(0.975, len(values) - 1)) * statistics.stdev(values) / math.sqrt(len(values))
    return mean - half, mean + half


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """By task and algorithm: every seed's return, the mean, the interval, and whether it beats independent PPO."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(row["task"] for row in rows):
        labels = dict.fromkeys(row["algorithm"] for row in rows if row["task"] == name)
        found[name] = {}
        for label in labels:
            returns = [row["return"] for row in rows if (row["task"], row["algorithm"]) == (name, label)]
            low, high = interval(returns)
            mean = statistics.fmean(returns)
            found[name][label] = {"returns": returns, "mean": mean, "low": low, "high": high}
        base = found[name].get(BASELINE)
        for label, row in found[name].items():
            if base is not None and label != BASELINE:
                row["beats_ppo"] = row["low"] > base["high"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(TASKS), help="tasks, separated by commas")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--file", type=Path, default=FILE, help="where the rows are kept")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = json.loads(given.file.read_text()) if given.file.exists() else []
    for name in given.only.split(","):
        for label in TASKS[name].algorithms:
            for seed in map(int, given.seeds.split(",")):
                key = {"task": name, "algorithm": label, "seed": seed}
                if any(key.items() <= row.items() for row in rows):
                    continue
                rows.append({**key, **run(TASKS[name], label, seed)})
                given.file.write_text("[\n" + ",\n".join(f" {json.dumps(row)}" for row in rows) + "\n]\n")
                say(f"{name:14} {label:28} seed {seed}: {rows[-1]['return']:8.3f}  {rows[-1]['cpu_seconds']:.0f} s")
    found = summary(rows)
    if given.json:
        print(json.dumps(found))
        return
    for name, by_label in found.items():
        for label, row in by_label.items():
            print(f"{name:14} {label:28} {row['mean']:8.3f}  [{row['low']:.3f}, {row['high']:.3f}]")


if __name__ == "__main__":
    main()
