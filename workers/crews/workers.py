"""The processes of a crew. Ray hosts them; nothing here knows Ray but the address of its node."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from league.types import CheckpointRef
from orchestrator.artifacts import ArtifactStore
from workers.algorithms.contract import parse_options
from workers.crews.member import CrewPlan, Ring, Table, game_of, pin_threads
from workers.crews.task import GenerationTask
from workers.crews.trainee import Trainee
from workers.models.contract import build_model
from workers.rollout.batch import SampleBatch, merge
from workers.rollout.sampler import Sampler
from workers.rollout.tally import Counts

Weights = dict[str, NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class Report:
    """What one process did in one call."""

    steps: int = 0
    """Environment steps sampled."""
    metrics: dict[str, float] = field(default_factory=dict)


class Worker:
    """A process of a crew: pinned threads, perhaps a place in a ring."""

    def __init__(self, plan: CrewPlan, store: ArtifactStore, rank: int) -> None:
        pin_threads(plan.threads)
        self._plan, self._store, self._rank = plan, store, rank
        self._ring = Ring(rank, plan.learners) if plan.learners > 1 else None

    def pid(self) -> int:
        """The process's number; answers once it stands."""
        return os.getpid()

    def host(self, address: str) -> tuple[str, int]:
        """Open the ring's meeting point."""
        assert self._ring is not None
        return self._ring.host(address)

    def join(self, address: str, port: int) -> None:
        """Enter the ring; returns when all have."""
        assert self._ring is not None
        self._ring.join(address, port)


class FusedWorker(Worker):
    """Samples and learns by turns; its gradients are averaged with those of the others."""

    _sampler: Sampler

    def __init__(self, plan: CrewPlan, store: ArtifactStore, rank: int) -> None:
        super().__init__(plan, store, rank)
        self._table = Table(plan, store, rank)
        self._trainee = Trainee(plan, store, self._table.game, self._ring)

    def prepare(self, task: GenerationTask, reload: bool) -> None:
        """Fresh tables, and the task's learner."""
        self._trainee.prepare(task, reload, self._rank)
        self._sampler = self._table.sampler(task, self._trainee.learner.model, self._trainee.options.rollout_steps)

    def advance(self, updates: int) -> Report:
        """So many rounds of sampling and learning."""
        before = self._sampler.steps
        metrics: dict[str, float] = {}
        for _ in range(updates):
            metrics = self._trainee.update(self._sampler.collect())
        return Report(steps=self._sampler.steps - before, metrics=metrics)

    def play_out(self, steps: int) -> int:
        """So many steps of the games still to be counted; returns how many are left."""
        return self._sampler.play_out(steps)

    def counts(self) -> Counts:
        """The games counted in this generation."""
        return self._sampler.board.counts()

    def finish(self, steps: int, write: bool) -> CheckpointRef | None:
        """The generation is over after `steps` of the whole crew; one process writes the checkpoint."""
        self._trainee.count(steps)
        return self._trainee.save() if write else None


class RolloutWorker(Worker):
    """Samples with the weights it is given."""

    _sampler: Sampler

    def __init__(self, plan: CrewPlan, store: ArtifactStore, rank: int) -> None:
        super().__init__(plan, store, rank)
        self._table = Table(plan, store, rank)
        self._model = build_model(plan.model, self._table.game.spec)
        self._steps = parse_options(plan.algorithm).rollout_steps

    def prepare(self, task: GenerationTask) -> None:
        """Fresh tables."""
        self._sampler = self._table.sampler(task, self._model, self._steps)

    def sample(self, weights: Weights) -> tuple[SampleBatch, int]:
        """One batch under these weights, and the environment steps it took."""
        self._load(weights)
        before = self._sampler.steps
        return self._sampler.collect(), self._sampler.steps - before

    def play_out(self, weights: Weights, steps: int) -> int:
        """See `FusedWorker.play_out`."""
        self._load(weights)
        return self._sampler.play_out(steps)

    def counts(self) -> Counts:
        """The games counted in this generation."""
        return self._sampler.board.counts()

    def _load(self, weights: Weights) -> None:
        # Copied: what comes out of the object store is read-only.
        self._model.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in weights.items()})


class TrainerWorker(Worker):
    """Learns from batches that others sampled."""

    def __init__(self, plan: CrewPlan, store: ArtifactStore, rank: int) -> None:
        super().__init__(plan, store, rank)
        # Samples lie in shared memory, read-only; they are only read.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        self._trainee = Trainee(plan, store, game_of(plan.game, 1), self._ring)

    def prepare(self, task: GenerationTask, reload: bool) -> Weights:
        """The task's learner; returns the weights to sample with."""
        self._trainee.prepare(task, reload, self._rank)
        return self._weights()

    def train(self, *batches: SampleBatch) -> tuple[Weights, Report]:
        """Learn from these batches, and pass on the weights that came of it."""
        metrics = self._trainee.update(merge(batches))
        return self._weights(), Report(metrics=metrics)

    def finish(self, steps: int, write: bool) -> CheckpointRef | None:
        """See `FusedWorker.finish`."""
        self._trainee.count(steps)
        return self._trainee.save() if write else None

    def _weights(self) -> Weights:
        return {name: tensor.numpy() for name, tensor in self._trainee.learner.weights().items()}


def total(counts: Sequence[Counts]) -> dict[tuple[int, int, int], NDArray[np.int64]]:
    """Wins, draws and losses by (opponent, own seat, opponent's seat) over all processes, where games were played."""
    sums: dict[tuple[int, int, int], NDArray[np.int64]] = {}
    for count in counts:
        for opponent, seat, other in np.argwhere(count.outcomes.sum(3) > 0).tolist():
            before = sums.get((opponent, seat, other), np.zeros(3, np.int64))
            sums[opponent, seat, other] = before + count.outcomes[opponent, seat, other]
    return sums
