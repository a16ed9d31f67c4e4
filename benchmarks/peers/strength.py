"""How soon a learner plays well: training in slices, and between them a separate greedy evaluation, off the clock."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from benchmarks.peers.lanista import LanistaPeer
from benchmarks.peers.rates import Slice, say
from benchmarks.peers.rllib.client import RllibPeer, RllibSettings
from league.types import CheckpointRef, VersionId
from orchestrator.catalog import Component
from orchestrator.contracts.generations import GenerationTask
from orchestrator.storage.artifacts import ArtifactStore
from workers.checkpoints import Checkpoint, save
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask, Randomness

GAMES = 400
NOT_REACHED = "not reached"
_LEAST_GAP = 0.1
"""Seconds. Each of Lanista's slices starts new games: very short slices would see openings only."""

BUILT_IN = Component(id="connect_four")
OPENSPIEL = Component(id="openspiel", options={"game": "connect_four"})


def lanista_task(*, actors: int, rollout_steps: int, tables: int = 256, **ppo: float) -> GenerationTask:
    """Self-play in the built-in game with the default network."""
    return GenerationTask(
        game=BUILT_IN,
        model=Component(id="mlp"),
        algorithm=Component(id="ppo", options={"rollout_steps": rollout_steps, **ppo}),
        steps=1,
        seed=0,
        tables=tables,
        rollout_actors=actors,
    )


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A bot to beat, the win rate to reach, and each rival's settings: the fastest of a few that were tried."""

    bot: str
    win_rate: float
    spacing: float
    """The factor of training time between two evaluations; the same for both rivals."""
    lanista: GenerationTask
    rllib: RllibSettings


GOALS = (
    Goal(
        bot="random",
        win_rate=0.9,
        spacing=1.1,
        lanista=lanista_task(actors=2, rollout_steps=16, tables=128, minibatch=1024, learning_rate=4e-3, epochs=2),
        rllib=RllibSettings(learning_rate=2e-3),
    ),
    Goal(
        bot="mcts-50",
        win_rate=0.5,
        spacing=1.25,
        lanista=lanista_task(actors=2, rollout_steps=32, tables=512, minibatch=4096, learning_rate=3e-3, epochs=2),
        rllib=RllibSettings(learning_rate=2e-3),
    ),
)


class Contestant(Protocol):
    """A learner whose play can be judged."""

    game: Component

    def train(self, seconds: float) -> Slice:
        """Learn for about this many seconds."""

    def version(self) -> CheckpointRef:
        """A checkpoint of its present weights."""

    def close(self) -> None:
        """End all its processes."""


class LanistaContestant(LanistaPeer):
    """Lanista with its own settings."""

    def __init__(self, task: GenerationTask, store: ArtifactStore) -> None:
        super().__init__(task, store)
        self.game = task.game

    def version(self) -> CheckpointRef:
        assert self.checkpoint is not None
        return self.checkpoint


class RllibContestant(RllibPeer):
    """RLlib; its network has the shape of Lanista's, so its weights are judged as a Lanista checkpoint."""

    game = OPENSPIEL

    def __init__(self, settings: RllibSettings, store: ArtifactStore) -> None:
        super().__init__(settings)
        self._hidden, self._store = settings.hidden, store

    def version(self) -> CheckpointRef:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "weights.npz"
            self.export(path)
            with np.load(path) as arrays:
                weights = translate({name: torch.from_numpy(array) for name, array in arrays.items()})
        model = Component(id="mlp", options={"hidden": list(self._hidden)})
        return save(self._store, Checkpoint(model=model, game=self.game, weights=weights))


def translate(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """RLlib's network (trunk, policy, value) under the names of Lanista's perceptron (layers, heads)."""
    trunk = sorted({int(name.split(".")[1]) for name in weights if name.startswith("trunk.")})
    renamed = {
        f"layers.{layer}.{part}": weights[f"trunk.{index}.{part}"]
        for layer, index in enumerate(trunk)
        for part in ("weight", "bias")
    }
    for part in ("weight", "bias"):
        renamed[f"heads.{part}"] = torch.cat([weights[f"policy.{part}"], weights[f"value.{part}"]])
    return renamed


def win_rate(game: Component, version: CheckpointRef, bot: str, store: ArtifactStore, seed: int) -> float:
    """The share of games won, draws not counted, by greedy play from both seats."""
    entrants = (Entrant(id=VersionId("learner"), checkpoint=version), Entrant(id=VersionId(bot), bot=bot))
    task = MatchTask(
        game=game, entrants=entrants, pairs=GAMES // 2, seed=seed, randomness=Randomness(sampled=False), tables=GAMES
    )
    return sum(tally.wins for tally in play_match(task, store=store).tallies()) / GAMES


@dataclass
class GoalResult:
    """When the goal was reached, in seconds of training, and the best win rate so far."""

    reached: float = math.inf
    best: float = 0.0
    seconds: float = 0.0
    steps: int = 0


def judge(learner: Contestant, goal: Goal, store: ArtifactStore, number: int, so_far: GoalResult) -> float:
    """Evaluate; the goal counts as reached if a second evaluation on other seeds confirms the first.

    Among many evaluations just below the goal one passes by chance; the second one rules that out.
    """
    version = learner.version()
    rate = win_rate(learner.game, version, goal.bot, store, seed=2 * number)
    if rate >= goal.win_rate:
        rate = min(rate, win_rate(learner.game, version, goal.bot, store, seed=2 * number + 1))
    so_far.best = max(rate, so_far.best)
    if rate >= goal.win_rate:
        so_far.reached = so_far.seconds
    return rate


def train_to_goal(name: str, learner: Contestant, goal: Goal, store: ArtifactStore, *, limit: float) -> GoalResult:
    """Train and judge by turns until the goal is reached or the training time is up."""
    result = GoalResult()
    mark, number = _LEAST_GAP, 0
    while result.seconds < limit and math.isinf(result.reached):
        done = learner.train(max(min(mark, limit) - result.seconds, 0.01))
        result.seconds += done.seconds
        result.steps += done.steps
        number += 1
        rate = judge(learner, goal, store, number, result)
        say(f"  {name}: {result.seconds:6.2f} s, {result.steps:,} steps: {rate:.1%} against {goal.bot}")
        mark = max(result.seconds * goal.spacing, result.seconds + _LEAST_GAP)
    return result


def measure_strength(store: ArtifactStore, *, seeds: Sequence[int], limit: float) -> dict[str, Any]:
    """Measure both rivals for each goal, in turn for each seed."""
    found: dict[str, Any] = {"games": GAMES, "limit_seconds": limit}
    for goal in GOALS:
        results: dict[str, list[GoalResult]] = {"lanista": [], "rllib": []}
        for seed in seeds:
            with closing(LanistaContestant(replace(goal.lanista, seed=seed), store)) as lanista:
                results["lanista"].append(train_to_goal(f"lanista, seed {seed}", lanista, goal, store, limit=limit))
            with closing(RllibContestant(replace(goal.rllib, seed=seed), store)) as rllib:
                results["rllib"].append(train_to_goal(f"rllib, seed {seed}", rllib, goal, store, limit=limit))
        found[goal.bot] = {"win_rate": goal.win_rate, **summary(results)}
    return found


def summary(results: Mapping[str, Sequence[GoalResult]]) -> dict[str, Any]:
    """The seconds of every seed, and the ratio of RLlib's median to Lanista's."""
    row: dict[str, Any] = {}
    for name, runs in results.items():
        row[name] = [round(run.reached, 2) if math.isfinite(run.reached) else NOT_REACHED for run in runs]
        row[f"{name}_best_win_rate"] = [round(run.best, 4) for run in runs]
    lanista, rllib = (statistics.median(run.reached for run in results[name]) for name in ("lanista", "rllib"))
    known = math.isfinite(lanista) and math.isfinite(rllib)
    row["ratio"] = round(rllib / lanista, 2) if known else NOT_REACHED
    return row
