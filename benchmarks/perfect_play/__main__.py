"""Connect four against perfect play: how often champions keep the game's value, and how they fare against a solver.

    python -m benchmarks.perfect_play --json [--by self_play,pfsp,...] [--minutes 10] [--seeds 1] [--positions 1000]

The exact solver bitbully (AGPL, a program of its own in build/bitbully-venv) judges the moves that players choose in
sets of positions by ply and by how far the end is, and plays games against them, moving first and second. The players:
each preset's champion after the same minutes of PPO through a stack on two cores, `alphazero` in self-play, RLlib's PPO
in self-play, and MCTS with 100 and 1,000 simulations. A row a player is kept in benchmarks/results/perfect_play.json,
and a second call runs only what is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from benchmarks.peers.rates import say
from benchmarks.peers.rllib.client import RllibSettings
from benchmarks.peers.strength import RllibContestant
from benchmarks.perfect_play.judging import games_against_solver, shares
from benchmarks.perfect_play.players import Chooser, bot_player, version_player
from benchmarks.perfect_play.sets import check_scale, position_sets
from benchmarks.perfect_play.training import ALPHAZERO, PRESETS, train
from benchmarks.results_file import read_results, write_results
from benchmarks.stacks.local_stack import local_stack
from orchestrator.storage.artifacts import ArtifactStore

RESULTS = Path(__file__).parents[1] / "results" / "perfect_play.json"
BOTS = ("mcts-100", "mcts-1000")
RLLIB = "rllib"
BY = (*PRESETS, ALPHAZERO, RLLIB, *BOTS)
PUBLISHED = {
    "AlphaZero.jl, 600 simulations a move, hours on a GPU": {
        "begin-hard": "errors of about 7 %",
        "begin-medium": "errors of about 2 %",
        "middle-medium": "errors of 2 to 3 %",
    }
}
GAMES = 50
SEARCHES = (64, 200)
"""Simulations with which `alphazero` is judged too, beside its network alone."""


@contextmanager
def players(by: str, minutes: float, seed: int) -> Iterator[tuple[dict[str, Chooser], dict[str, Any]]]:
    """The players of a row by name, and what is to be said of their training."""
    if by in BOTS:
        yield {"bot": bot_player(by, seed)}, {}
    elif by == RLLIB:
        with tempfile.TemporaryDirectory() as folder:
            store = ArtifactStore(folder)
            rival = RllibContestant(RllibSettings(learning_rate=2e-3, seed=seed), store)
            try:
                done = rival.train(minutes * 60)
                yield {"network": version_player(store, rival.version())}, {"steps": done.steps}
            finally:
                rival.close()
    else:
        with local_stack() as stack:
            version, row = train(stack, by, minutes, seed)
            store = ArtifactStore(str(stack.home.artifacts))
            found = {"network": version_player(store, version)}
            if by == ALPHAZERO:
                found |= {f"search-{each}": version_player(store, version, each) for each in SEARCHES}
            yield found, row


def run(by: str, seed: int, given: argparse.Namespace) -> dict[str, Any]:
    """Train where there is something to train, and judge."""
    check_scale()
    sets = position_sets(given.positions)
    with players(by, given.minutes, seed) as (found, row):
        for name, choose in found.items():
            row[name] = {
                "keeps": shares(choose, sets),
                "moving_first": games_against_solver(choose, given.games, first=True, seed=seed),
                "moving_second": games_against_solver(choose, given.games, first=False, seed=seed),
            }
            kept = ", ".join(f"{each} {part['keeps']:.1%}" for each, part in row[name]["keeps"].items())
            say(f"  {name}: {kept}; moving first {row[name]['moving_first']}")
    row["cores"] = len(os.sched_getaffinity(0))
    row["load"] = round(os.getloadavg()[0], 1)
    return row


def key_of(by: str, given: argparse.Namespace, seed: int) -> str:
    """What a row is called; bots need no time."""
    trained = "" if by in BOTS else f", {given.minutes:g} minutes"
    games = "" if given.games == GAMES else f", {given.games} games"
    return f"{by}{trained}, seed {seed}, {given.positions} positions a set{games}"


def main() -> None:
    """Run what is missing, and print all rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.add_argument("--by", default=",".join(BY), help="players, separated by commas")
    parser.add_argument("--minutes", type=float, default=10.0, help="minutes of training")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--positions", type=int, default=1000, help="positions of each set")
    parser.add_argument(
        "--games", type=int, default=GAMES, help="games against the solver, moving first and second each"
    )
    parser.add_argument("--file", type=Path, default=RESULTS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    if unknown := set(given.by.split(",")) - set(BY):
        raise SystemExit(f"--by {', '.join(sorted(unknown))}: allowed are {', '.join(BY)}")
    rows = read_results(given.file)
    for seed in map(int, given.seeds.split(",")):
        for by in given.by.split(","):
            key = key_of(by, given, seed)
            if key not in rows:
                say(key)
                rows[key] = run(by, seed, given)
                write_results(given.file, rows)
    result = {"published": PUBLISHED, "rows": rows}
    print(json.dumps(result) if given.json else json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
