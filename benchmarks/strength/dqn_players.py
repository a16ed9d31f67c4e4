"""Steps until DQN's mean return passes 475 on CartPole-v1: three players each alone, and the same three on one crew.

    python -m benchmarks.dqn_players --json results.json

A player has the same seeds alone and beside the others, so it needs the same steps unless it loses its buffer to them.
Every finished run is written to the file at once, and a second call goes on from there.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray

from league.types import CheckpointRef
from orchestrator.contracts.generations import GenerationTask
from orchestrator.spec.reading.loading import load_trial_file
from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.generation import run_generation
from workers.crews.pool import CrewPool

EXAMPLES = Path(__file__).parents[2] / "examples"
GOAL, MOST_GENERATIONS, PLAYERS = 475.0, 40, 3


def steps_to_goal(players: Sequence[int], seed: int) -> list[int | None]:
    """Each player's environment steps until a generation's mean return reaches the goal; None if it never does."""
    trial = load_trial_file(EXAMPLES / "own_algorithm.yaml")
    found: dict[int, int | None] = dict.fromkeys(players)
    learners: dict[int, CheckpointRef | None] = dict.fromkeys(players)
    steps = dict.fromkeys(players, 0)
    with tempfile.TemporaryDirectory() as folder:
        store = ArtifactStore(folder)
        crews = CrewPool(store)
        for generation in range(MOST_GENERATIONS):
            for player in [player for player in players if found[player] is None]:
                task = GenerationTask(
                    game=trial.game.component,
                    model=trial.model.component,
                    algorithm=trial.algorithm.component,
                    steps=trial.generation.steps,
                    tables=trial.generation.tables,
                    seed=seed * 10_000 + player * 100 + generation,
                    checkpoint=learners[player],
                    player=f"player-{player}",
                )
                done = run_generation(
                    task, store=store, progress=lambda _: None, should_stop=lambda: False, crews=crews
                )
                learners[player] = done.checkpoint
                steps[player] += done.steps
                if done.metrics.get("return_mean", 0.0) >= GOAL:
                    found[player] = steps[player]
        crews.close()
    return list(found.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("dqn_players.json"))
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    sys.path.insert(0, str(EXAMPLES))
    ray.init(
        num_cpus=1,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": ":".join(filter(None, sys.path))}},
    )
    results: dict[str, Any] = json.loads(given.json.read_text()) if given.json.exists() else {}
    for seed in range(given.seeds):
        alone = {f"alone-{seed}-{player}": [player] for player in range(PLAYERS)}
        for name, players in {**alone, f"shared-{seed}": list(range(PLAYERS))}.items():
            if name not in results:
                results[name] = steps_to_goal(players, seed)
                given.json.write_text(json.dumps(results, indent=1))
                sys.stderr.write(f"{name}: {results[name]}\n")
    means = {}
    for name in ("alone", "shared"):
        runs = [steps for key, found in results.items() if key.startswith(f"{name}-") for steps in found]
        means[name] = None if None in runs else statistics.mean(runs)
    ratio = means["shared"] / means["alone"] if means["alone"] and means["shared"] else None
    sys.stdout.write(json.dumps({**means, "ratio": ratio}) + "\n")


if __name__ == "__main__":
    main()
