"""Slime volleyball: equal to slimevolleygym, and what leagues that never met its policy score against it.

    python -m benchmarks.slime_volley --json [--by league,self_play,pfsp] [--minutes 30] [--seeds 1,2,3]
    python -m benchmarks.slime_volley --equal 1000
    python -m benchmarks.slime_volley --fixture

A league of three roles (preset `alphastar`) trains through a stack of its own for the minutes; self-play and PFSP then
train for as many steps as its players had together. The newest version of each main plays episodes against the
package's own policy, whose weights are read from the package in build/slimevolleygym-venv. A row a run is kept in
benchmarks/results/slime_volley.json, and a second call runs only what is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
from pathlib import Path
from typing import Any

import torch

from benchmarks.peers.rates import say
from benchmarks.results_file import read_results, write_results
from benchmarks.slime_volley import fixture, leagues
from benchmarks.slime_volley.baseline import score_against
from benchmarks.slime_volley.equality import equality, package_weights
from benchmarks.stacks.local_stack import local_stack
from orchestrator.storage.artifacts import ArtifactStore
from workers.checkpoints import load
from workers.games.names import make_game
from workers.inference.policy import Policy

RESULTS = Path(__file__).parents[1] / "results" / "slime_volley.json"
PUBLISHED = {
    "GA, self-play": {"mean": 0.353, "deviation": 0.728},
    "CMA-ES, self-play": {"mean": -0.071, "deviation": 0.827},
    "PPO, self-play": {"mean": -0.371, "deviation": 1.085},
    "PPO, trained against it": {"mean": 1.377, "deviation": 1.133},
    "CMA-ES, trained against it": {"mean": 1.148, "deviation": 1.071},
}
"""Mean scores over 1,000 episodes against the same policy, from the package's own documentation."""
EQUAL = "equal"
_EPISODES_SEED = 77


def run(by: str, seed: int, rows: dict[str, Any], given: argparse.Namespace) -> dict[str, Any]:
    """Train and judge one run. The opponents of the league train as many steps as the league of this seed did."""
    budget: dict[str, Any] = {"wall_clock": f"{round(given.minutes * 60)}s"}
    if by != leagues.LEAGUE:
        league = rows.get(key_of(leagues.LEAGUE, given.minutes, seed))
        if league is None:
            raise SystemExit(
                f"{by}, seed {seed}: run the league of this seed first, it says for how many steps to train"
            )
        budget = {"steps": league["main_steps" if given.main_steps else "steps"]}
    weights = package_weights()
    with local_stack() as stack:
        version, row = leagues.train(stack, by, seed, budget, limit=given.minutes * 60 * 6 + 900)
        checkpoint = load(ArtifactStore(str(stack.home.artifacts)), version)
    policy = Policy.from_checkpoint(checkpoint, make_game("slime_volley", 1).spec)
    for name, sampled in (("greedy", False), ("sampled", True)):
        score = score_against(policy, weights, episodes=given.episodes, seed=_EPISODES_SEED, sampled=sampled)
        row[name] = score.to_json()
        say(f"  {name}: {score.mean:+.3f} +- {score.deviation:.3f} over {score.episodes} episodes")
    row["cores"] = len(os.sched_getaffinity(0))
    return row


def key_of(by: str, minutes: float, seed: int, *, main_steps: bool = False) -> str:
    """What a row is called."""
    less = ", steps of the league's main alone" if main_steps and by != leagues.LEAGUE else ""
    return f"{by}, {minutes:g} minutes, seed {seed}{less}"


def summary(rows: dict[str, Any], minutes: float) -> dict[str, Any]:
    """By kind of training: the mean over the seeds, and each seed's score, of greedy play."""
    found: dict[str, Any] = {}
    for by in leagues.BY:
        named = re.compile(rf"{by}, {minutes:g} minutes, seed \d+")
        scores = [row["greedy"]["mean"] for key, row in rows.items() if named.fullmatch(key)]
        if scores:
            found[by] = {"mean": round(statistics.mean(scores), 4), "by_seed": scores}
    return found


def main() -> None:
    """Run what is missing, and print all rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.add_argument("--equal", type=int, metavar="EPISODES", help="only play so many episodes beside the package")
    parser.add_argument("--fixture", action="store_true", help="only write the recorded episodes of the unit test")
    parser.add_argument("--by", default=",".join(leagues.BY), help="kinds of training, separated by commas")
    parser.add_argument("--minutes", type=float, default=30.0, help="minutes of a league")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument(
        "--main-steps", action="store_true", help="self-play and PFSP train as long as the league's main alone"
    )
    parser.add_argument("--episodes", type=int, default=1000, help="episodes against the package's policy")
    parser.add_argument("--file", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = read_results(given.file)
    if given.fixture:
        say(f"{fixture.FILE}: {fixture.write_fixture():,} bytes")
        return
    if given.equal:
        rows[EQUAL] = equality(given.equal)
        write_results(given.file, rows)
    else:
        _run_missing(rows, given)
    result = {"published": PUBLISHED, "summary": summary(rows, given.minutes), "rows": rows}
    print(json.dumps(result) if given.json else json.dumps(result, indent=1))


def _run_missing(rows: dict[str, Any], given: argparse.Namespace) -> None:
    chosen = given.by.split(",")
    if unknown := set(chosen) - set(leagues.BY):
        raise SystemExit(f"--by {', '.join(sorted(unknown))}: allowed are {', '.join(leagues.BY)}")
    for seed in map(int, given.seeds.split(",")):
        # in this order: the league says for how many steps the others train
        for by in sorted(chosen, key=leagues.BY.index):
            key = key_of(by, given.minutes, seed, main_steps=given.main_steps)
            if key not in rows:
                say(key)
                rows[key] = run(by, seed, rows, given)
                write_results(given.file, rows)


if __name__ == "__main__":
    main()
