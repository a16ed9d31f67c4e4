"""A fake buffer: made-up experience of a trial's spaces, to try its model and algorithm without a game."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from lanista.fakes.made_up_game import MadeUpGame
from orchestrator.spec import TrialFile
from orchestrator.spec.algorithms.base import AlgorithmOptions
from workers.algorithms.building import build_learner
from workers.algorithms.contract import make_algorithm, parse_options
from workers.algorithms.errors import BadAlgorithm
from workers.algorithms.metrics import MetricMeans
from workers.games.names import make_game
from workers.rollout.sampler import Sampler
from workers.rollout.seating import seat


@dataclass(frozen=True, slots=True)
class FakeUpdate:
    """What one update on made-up experience was like."""

    number: int
    rows: int
    seconds: float
    metrics: Mapping[str, float]


def updates(
    trial: TrialFile, *, count: int, tables: int, mean_length: int, script: Mapping[str, Callable[..., Any]]
) -> Iterator[FakeUpdate]:
    """Train the trial's algorithm and model on made-up experience; yields after each update."""
    component = trial.algorithm.component
    options: AlgorithmOptions = parse_options(component)
    spec = make_game(trial.game.component.id, 1, **dict(trial.game.component.options)).spec
    game = MadeUpGame(spec, tables, mean_length=mean_length, script=script)
    rows = options.rollout_steps * tables * (spec.seats if spec.simultaneous else 1)
    algorithm = make_algorithm(component, rows)
    if not algorithm.plays:
        raise BadAlgorithm(f"{component.id} learns from data sets, not from games: name a small data set instead")
    torch.set_num_threads(trial.generation.threads)
    torch.manual_seed(trial.seed)
    learner = build_learner(algorithm, trial.model.component, spec, trial.seed)
    rng = np.random.default_rng(trial.seed)
    game.reset(rng.integers(0, 2**64, tables, dtype=np.uint64))
    sampler = Sampler(
        game=game,
        seating=seat(tables=tables, teams=spec.teams, shares=[1.0], rng=rng),
        learner=algorithm.actor(learner.all_nets()),
        steps=options.rollout_steps,
        rng=rng,
        central=algorithm.central,
        restarts=algorithm.restarts,
    )
    buffer = algorithm.buffer(spec)
    for number in range(1, count + 1):
        sampler.explore = algorithm.explore(sampler.steps)
        learner.nets.eval()
        batch = sampler.collect()
        means, began = MetricMeans(), time.perf_counter()
        buffer.add(batch)
        learner.nets.train()
        for metrics in algorithm.update(learner, buffer, rng):
            means.add(metrics, int(metrics.get("rows", 1)), algorithm.count_metrics)
        learner.require_finite()
        yield FakeUpdate(number, batch.trainable_rows, time.perf_counter() - began, means.values())
