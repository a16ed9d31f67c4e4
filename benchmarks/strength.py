"""How soon a learner plays well: training in slices, and between them a separate greedy evaluation, off the clock."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from benchmarks.lanista_peer import LanistaPeer
from benchmarks.rates import Slice, say
from benchmarks.rllib_peer.client import RllibPeer, RllibSettings
from league.types import CheckpointRef, VersionId
from orchestrator.artifacts import ArtifactStore
from orchestrator.catalog import Component
from workers.checkpoints import Checkpoint, save
from workers.crews.task import GenerationTask
from workers.matches.play import play_match
from workers.matches.task import Entrant, MatchTask, Variety

GAMES = 400
GOALS = {"random": 0.9, "mcts-50": 0.5}
NOT_REACHED = "not reached"
_SPACING = 1.1
_LEAST_GAP = 0.25
_SPARING = {"mcts-50": 1.25}
"""Evaluations stand a tenth of the time apart, against a slow opponent a quarter, and never less than the gap: as
fine for one rival as for the other. Each of Lanista's slices starts fresh games: tiny ones would show openings only."""

BUILT_IN = Component(id="connect_four")
OPENSPIEL = Component(id="openspiel", options={"game": "connect_four"})
LANISTA = GenerationTask(
    game=BUILT_IN,
    model=Component(id="mlp"),
    algorithm=Component(id="ppo", options={"learning_rate": 2e-3, "rollout_steps": 32, "minibatch": 1024}),
    steps=1,
    seed=0,
    tables=256,
    rollout_actors=2,
)
RLLIB = RllibSettings(learning_rate=2e-3)
"""Of a few settings tried for each, those that beat random play after the fewest steps."""


class Climber(Protocol):
    """A learner whose play can be judged."""

    game: Component

    def train(self, seconds: float) -> Slice:
        """Learn for about so long."""

    def version(self) -> CheckpointRef:
        """What it has learnt so far."""

    def close(self) -> None:
        """End all its processes."""


class LanistaClimber(LanistaPeer):
    """Lanista with its own settings."""

    def __init__(self, task: GenerationTask, store: ArtifactStore) -> None:
        super().__init__(task, store)
        self.game = task.game

    def version(self) -> CheckpointRef:
        assert self.checkpoint is not None
        return self.checkpoint


class RllibClimber(RllibPeer):
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
        game=game, entrants=entrants, pairs=GAMES // 2, seed=seed, variety=Variety(sampled=False), tables=GAMES
    )
    return sum(tally.wins for tally in play_match(task, store=store).tallies()) / GAMES


@dataclass
class Climb:
    """When each goal was reached, in seconds of training, and the best that was seen."""

    reached: dict[str, float] = field(default_factory=dict)
    best: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    steps: int = 0


def judge(learner: Climber, bot: str, store: ArtifactStore, number: int, so_far: Climb) -> float:
    """Evaluate, and book the goal when a second evaluation on other seeds confirms the first.

    Among many evaluations just below a goal one passes by luck; without the second it would count.
    """
    version = learner.version()
    rate = win_rate(learner.game, version, bot, store, seed=2 * number)
    if rate >= GOALS[bot]:
        rate = min(rate, win_rate(learner.game, version, bot, store, seed=2 * number + 1))
    so_far.best[bot] = max(rate, so_far.best.get(bot, 0.0))
    if rate >= GOALS[bot]:
        so_far.reached[bot] = so_far.seconds
    return rate


def climb(name: str, learner: Climber, store: ArtifactStore, *, limit: float) -> Climb:
    """Train and judge by turns until every goal is reached or the training time is up."""
    result = Climb()
    due = dict.fromkeys(GOALS, 0.0)
    mark, number = _LEAST_GAP, 0
    while result.seconds < limit and len(result.reached) < len(GOALS):
        done = learner.train(max(min(mark, limit) - result.seconds, 0.01))
        result.seconds += done.seconds
        result.steps += done.steps
        number += 1
        for bot in GOALS:
            if bot not in result.reached and result.seconds >= due[bot]:
                rate = judge(learner, bot, store, number, result)
                due[bot] = result.seconds * _SPARING.get(bot, 1.0)
                say(f"  {name}: {result.seconds:6.1f} s, {result.steps:,} steps: {rate:.1%} against {bot}")
        mark = max(result.seconds * _SPACING, result.seconds + _LEAST_GAP)
    return result


def measure_strength(store: ArtifactStore, *, seeds: Sequence[int], limit: float) -> dict[str, Any]:
    """Both rivals, seed by seed in turn."""
    climbs: dict[str, list[Climb]] = {"lanista": [], "rllib": []}
    for seed in seeds:
        with closing(LanistaClimber(replace(LANISTA, seed=seed), store)) as lanista:
            climbs["lanista"].append(climb(f"lanista, seed {seed}", lanista, store, limit=limit))
        with closing(RllibClimber(replace(RLLIB, seed=seed), store)) as rllib:
            climbs["rllib"].append(climb(f"rllib, seed {seed}", rllib, store, limit=limit))
    return summary(climbs, limit)


def summary(climbs: Mapping[str, Sequence[Climb]], limit: float) -> dict[str, Any]:
    """Per goal the seconds of every seed, the medians, and how many times sooner Lanista was there."""
    found: dict[str, Any] = {"games": GAMES, "limit_seconds": limit}
    for bot, goal in GOALS.items():
        row: dict[str, Any] = {"win_rate": goal}
        medians = {}
        for name, runs in climbs.items():
            row[name] = [round(run.reached[bot], 2) if bot in run.reached else NOT_REACHED for run in runs]
            row[f"{name}_best_win_rate"] = [round(run.best.get(bot, 0.0), 4) for run in runs]
            medians[name] = statistics.median(run.reached.get(bot, math.inf) for run in runs)
        sooner = medians["rllib"] / medians["lanista"] if math.isfinite(medians["lanista"]) else math.nan
        row["ratio"] = round(sooner, 2) if math.isfinite(sooner) else NOT_REACHED
        found[bot] = row
    return found
