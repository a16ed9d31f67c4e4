"""How well the defaults learn: tic-tac-toe against exact play, connect four against random play and MCTS-50.

    python -m benchmarks.learning --json [--parts tic_tac_toe,connect_four] [--seeds 1,2,3]

Every seed is shown. Training is timed alone: judging, by greedy play from both seats, happens off the clock.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from contextlib import closing
from typing import Any

import ray
import torch

from benchmarks.peers.rates import say
from benchmarks.peers.strength import LanistaContestant
from league.types import VersionId
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask, Randomness

TIC_TAC_TOE = Component(id="tic_tac_toe")
CONNECT_FOUR = Component(id="connect_four")
_SLICE_SECONDS = 2.0
_GROWTH = 1.2
_REST = 1.0
"""Seconds at the end that are too short for a slice: many evaluations of near-equal weights would bias the best."""


def default_task(game: Component, seed: int) -> GenerationTask:
    """Self-play with Lanista's defaults on two processes."""
    return GenerationTask(
        game=game,
        model=Component(id="mlp"),
        algorithm=Component(id="ppo"),
        steps=1,
        seed=seed,
        rollout_actors=2,
    )


def shares(learner: LanistaContestant, bot: str, pairs: int, store: ArtifactStore, seed: int) -> dict[str, float]:
    """Shares of games won, drawn and lost by greedy play against the bot, seats swapped."""
    entrants = (
        Entrant(id=VersionId("learner"), checkpoint=learner.version()),
        Entrant(id=VersionId(bot), bot=bot),
    )
    task = MatchTask(game=learner.game, entrants=entrants, pairs=pairs, seed=seed, randomness=Randomness(sampled=False))
    tallies = play_match(task, store=store).tallies()
    games = sum(tally.games for tally in tallies)
    return {name: sum(getattr(tally, name) for tally in tallies) / games for name in ("wins", "draws", "losses")}


def tic_tac_toe(learner: LanistaContestant, store: ArtifactStore, limit: float) -> dict[str, Any]:
    """Seconds until 200 paired games against exact play, ties broken at random, have no loss."""
    seconds, number, found = 0.0, 0, {"losses": 1.0}
    while seconds < limit - _REST:
        seconds += learner.train(min(max(_SLICE_SECONDS, seconds * (_GROWTH - 1)), limit - seconds)).seconds
        number += 1
        found = shares(learner, "minimax-random", 100, store, number)
        say(f"  {seconds:6.1f} s: {found['losses']:.1%} lost to minimax")
        if found["losses"] == 0.0:
            fixed = shares(learner, "minimax", 100, store, number)
            if fixed["losses"] == 0.0:
                return {"seconds": round(seconds, 1), "losses": 0.0, "draws": found["draws"]}
    return {"seconds": "not reached", "losses": found["losses"]}


def connect_four(learner: LanistaContestant, store: ArtifactStore, limit: float) -> dict[str, Any]:
    """Win rates against random play within two minutes and against MCTS-50 within the limit."""
    seconds, number = 0.0, 0
    best = {"random": 0.0, "mcts-50": 0.0}
    reached: dict[str, float] = {}
    while seconds < limit - _REST:
        seconds += learner.train(min(max(_SLICE_SECONDS, seconds * (_GROWTH - 1)), limit - seconds)).seconds
        number += 1
        for bot, within, goal in (("random", 120.0, 0.95), ("mcts-50", limit, 0.5)):
            if seconds > within + 1.0 or (bot == "random" and bot in reached):
                continue
            wins = shares(learner, bot, 200, store, number)["wins"]
            best[bot] = max(best[bot], wins)
            if wins > goal:
                reached.setdefault(bot, round(seconds, 1))
            say(f"  {seconds:6.1f} s: {wins:.1%} won against {bot}")
    last = shares(learner, "mcts-50", 200, store, number + 1)["wins"]
    return {"best": best, "last_mcts_50": last, "over_95_random_and_over_50_mcts_50_after": reached}


PARTS: dict[str, tuple[Component, Callable[[LanistaContestant, ArtifactStore, float], dict[str, Any]]]] = {
    "tic_tac_toe": (TIC_TAC_TOE, tic_tac_toe),
    "connect_four": (CONNECT_FOUR, connect_four),
}
LIMITS = {"tic_tac_toe": 300.0, "connect_four": 600.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--limit", type=float, help="seconds of training, instead of the part's own")
    given = parser.parse_args()
    parts = given.parts.split(",")
    if unknown := sorted(set(parts) - set(PARTS)):
        parser.error(f"unknown part {', '.join(unknown)}; allowed: {', '.join(PARTS)}")
    torch.set_num_threads(1)
    ray.init(address="local", num_cpus=4, include_dashboard=False, log_to_driver=False)
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = ArtifactStore(folder)
        for part in parts:
            game, learn = PARTS[part]
            results[part] = {}
            for seed in map(int, given.seeds.split(",")):
                say(f"{part}, seed {seed}:")
                with closing(LanistaContestant(default_task(game, seed), store)) as learner:
                    results[part][str(seed)] = learn(learner, store, given.limit or LIMITS[part])
    ray.shutdown()
    print(json.dumps(results) if given.json else json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
