"""PPO on Atari's Breakout for a fixed time: frames a second and the return of whole games, beside stable-baselines3.

    python -m benchmarks.breakout --json [--minutes 20] [--by lanista,sb3] [--cores 1] [--file FILE]

Each trains for the same time on the same number of cores; then both play whole games (five lives, points not clipped)
with sampled actions. A row a run is kept in the file (benchmarks/results/breakout.json unless given), and a second call
runs only what is missing. Needs EnvPool (`pip install 'lanista[envpool]'`); the other project is installed once into
build/sb3-venv. A frame is one step of the emulator's game after skipping, as both count it.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import ray

from benchmarks.algorithms.peers import ROOT, PeerFailed, ensure_python
from benchmarks.peers.rates import say
from benchmarks.strength.continuous import task_of, train
from league.types import CheckpointRef, VersionId
from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask

RESULTS = Path(__file__).parents[1] / "results" / "breakout.json"
GAMES = 40
_NEEDS = ("ale-py", "opencv-python-headless")


def by_lanista(seconds: float, cores: int) -> dict[str, Any]:
    """The example's trial file, with as many processes as cores."""
    task = replace(task_of("atari_breakout", None), rollout_actors=cores)
    ray.init(num_cpus=cores, include_dashboard=False, logging_level=logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        curve = train(task, Path(folder), seconds)["generations"]
        ray.shutdown()
        whole = {"episodic_life": False, "reward_clip": False}
        game = Component(id=task.game.id, options={**task.game.options, "options": whole})
        entrant = Entrant(id=VersionId("learner"), checkpoint=CheckpointRef(**curve[-1]["checkpoint"]))
        match = MatchTask(game=game, entrants=(entrant,), pairs=GAMES, seed=10_001, tables=8)
        mean = play_match(match, store=ArtifactStore(str(Path(folder) / "artifacts"))).mean_return()
    returns = [[row["steps"], round(row["seconds"], 1), row["return_mean"]] for row in curve]
    return {"steps": curve[-1]["steps"], "seconds": round(curve[-1]["seconds"], 1), "return": mean, "curve": returns}


def by_sb3(seconds: float, cores: int) -> dict[str, Any]:
    """The project's own settings for Atari."""
    given = json.dumps({"seconds": seconds, "threads": cores, "seed": 1, "games": GAMES})
    script = ROOT / "benchmarks" / "peers" / "sb3_breakout.py"
    variables = {**os.environ, "OMP_NUM_THREADS": str(cores), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [ensure_python("sb3", _NEEDS), script, given], stdout=subprocess.PIPE, env=variables, text=True, check=False
    )
    if done.returncode:
        raise PeerFailed(f"sb3 ended with {done.returncode}; its messages are above")
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


RUNS = {"lanista": by_lanista, "sb3": by_sb3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--by", default="lanista,sb3")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--file", type=Path, default=RESULTS)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    given = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.cores])
    rows: dict[str, Any] = json.loads(given.file.read_text()) if given.file.exists() else {}
    for by in given.by.split(","):
        name = f"{by}, {given.minutes:g} minutes, {given.cores} cores"
        if name not in rows:
            say(name)
            rows[name] = RUNS[by](given.minutes * 60, given.cores)
            given.file.write_text(json.dumps(rows, indent=1) + "\n")
        row = rows[name]
        say(f"{name}: {row['steps'] / row['seconds']:.0f} frames/s, return {row['return']:.1f}")
    print(json.dumps(rows) if given.json else rows)


if __name__ == "__main__":
    main()
