"""Learning curves of one-seat games by their trial files: Pendulum (a Box action), Atari's Pong (pixels, by EnvPool).

    python -m benchmarks.continuous --json [--example pendulum] [--env Freeway-v5] [--minutes 10] [--folder DIR]

Trains one player generation by generation and writes each generation's mean return to DIR/curve.json. A second call
with the same folder continues from its last checkpoint. `random` is what uniformly random actions earn.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
import time
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import ray

from benchmarks.peers.rates import say
from league.types import CheckpointRef, VersionId
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask, ProcessResources
from orchestrator.spec.reading.loading import load_trial_file
from orchestrator.storage.artifacts import ArtifactStore
from workers.crews.generation import run_generation
from workers.crews.pool import CrewPool
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask

EXAMPLES = Path(__file__).parents[2] / "examples"


def task_of(example: str, env: str | None) -> GenerationTask:
    """One generation of an example's trial file."""
    spec = load_trial_file(EXAMPLES / f"{example}.yaml")
    game = spec.game.component
    if env is not None:
        game = Component(id=game.id, options={**game.options, "env": env})
    return GenerationTask(
        game=game,
        model=spec.model.component,
        algorithm=spec.algorithm.component,
        steps=spec.generation.steps,
        seed=spec.seed or 1,
        tables=spec.generation.tables,
        rollout_actors=spec.generation.rollout_actors,
        threads=spec.generation.threads,
        resources=ProcessResources(autocast=spec.generation.autocast),
    )


def random_return(game: Component, store: ArtifactStore, games: int = 16) -> float:
    """The mean return of random play."""
    entrants = (Entrant(id=VersionId("random"), bot="random"),)
    mean = play_match(MatchTask(game=game, entrants=entrants, pairs=games, seed=1), store=store).mean_return()
    assert mean is not None
    return mean


def train(task: GenerationTask, folder: Path, seconds: float) -> dict[str, Any]:
    """Add generations to the folder's curve for this long; returns the curve."""
    file = folder / "curve.json"
    store = ArtifactStore(str(folder / "artifacts"))
    curve: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {"generations": []}
    curve.setdefault("game", asdict(task.game))
    curve.setdefault("random", random_return(task.game, store))
    until = time.monotonic() + seconds
    with closing(CrewPool(store)) as crews:
        while time.monotonic() < until:
            done = curve["generations"]
            learner = CheckpointRef(**done[-1]["checkpoint"]) if done else None
            begun = time.monotonic()
            result = run_generation(
                replace(task, checkpoint=learner, seed=task.seed + len(done)),
                store=store,
                progress=lambda _: None,
                should_stop=lambda: False,
                crews=crews,
            )
            returns = result.returns
            row = {
                "steps": result.steps + (done[-1]["steps"] if done else 0),
                "seconds": time.monotonic() - begun + (done[-1]["seconds"] if done else 0.0),
                "games": 0 if returns is None else returns.games,
                "return_mean": None if returns is None or not returns.games else returns.mean,
                "checkpoint": asdict(result.checkpoint),
            }
            done.append(row)
            file.write_text(json.dumps(curve, indent=1))
            say(f"{row['steps']:>10,} steps  {row['seconds']:7.1f} s  return {row['return_mean']}")
    return curve


def summary(curve: dict[str, Any]) -> dict[str, Any]:
    """The curve without its checkpoints, and its ends."""
    rows = [{k: v for k, v in row.items() if k != "checkpoint"} for row in curve["generations"]]
    means = [row["return_mean"] for row in rows if row["return_mean"] is not None]
    ends = {"first": means[0], "last": means[-1], "best": max(means)} if means else {}
    return {"game": curve["game"], "random": curve["random"], **ends, "curve": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--example", default="pendulum", choices=["pendulum", "pendulum_ppo", "atari_pong", "atari_breakout"]
    )
    parser.add_argument("--env", help="another environment of the same adapter")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--folder", type=Path, help="where the curve and its checkpoints are kept; default: nowhere")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    given = parser.parse_args()
    task = task_of(given.example, given.env)
    ray.init(include_dashboard=False, logging_level=logging.ERROR)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) if given.folder is None else given.folder
        folder.mkdir(parents=True, exist_ok=True)
        found = summary(train(task, folder, given.minutes * 60))
    if given.json:
        print(json.dumps(found))
    else:
        print({name: value for name, value in found.items() if name != "curve"})


if __name__ == "__main__":
    main()
