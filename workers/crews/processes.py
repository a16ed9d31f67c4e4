"""The processes of a crew. Ray hosts them; nothing here knows Ray but the address of its node."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from league.types import CheckpointRef
from orchestrator.artifacts import ArtifactError, ArtifactStore
from orchestrator.catalog import CatalogError
from workers.algorithms.contract import parse_options
from workers.bots.protocol import BadBot
from workers.crews.errors import BadTask, CrewError
from workers.crews.member import CrewPlan, Ring, Table, game_of, pin_threads
from workers.crews.task import GenerationTask
from workers.crews.trainee import Trainee
from workers.games.errors import BadGame
from workers.models.contract import BadModel, build_model
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


TOLD_APART = (CrewError, BadGame, BadModel, BadBot, CatalogError, ArtifactError)
"""Errors that say themselves what is wrong."""


class Worker(ABC):
    """A process of a crew: pinned threads, perhaps a place in a ring."""

    def __init__(self, plan: CrewPlan, store: ArtifactStore, rank: int) -> None:
        self._plan, self._store, self._rank = plan, store, rank
        self._ring = Ring(rank, plan.learners) if plan.learners > 1 else None

    def set_up(self) -> None:
        """Make the game and the model. Not in the constructor: what fails there, Ray tells like a dead process."""
        pin_threads(self._plan.threads)
        try:
            self._build()
        except (*TOLD_APART, OSError, MemoryError):
            raise
        except Exception as error:
            # a user's game or model: no second attempt would go better
            raise BadTask(f"the crew cannot be set up: {type(error).__name__}: {error}") from error

    @abstractmethod
    def _build(self) -> None:
        """Make what this process works with."""

    def pid(self) -> int:
        """The process's number."""
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

    def _build(self) -> None:
        self._table = Table(self._plan, self._store, self._rank)
        self._trainee = Trainee(self._plan, self._store, self._table.game, self._ring)

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

    def _build(self) -> None:
        self._table = Table(self._plan, self._store, self._rank)
        self._model = build_model(self._plan.model, self._table.game.spec)
        self._steps = parse_options(self._plan.algorithm).rollout_steps

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

    def _build(self) -> None:
        # Samples lie in shared memory, read-only; they are only read.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        self._trainee = Trainee(self._plan, self._store, game_of(self._plan.game, 1), self._ring)

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


Place = tuple[int, int, int]
"""An opponent's number, the learner's seat, and the opponent's."""


def total(counts: Sequence[Counts]) -> dict[Place, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Wins, draws and losses, and both sides' returns, over all processes, where games were played."""
    sums: dict[Place, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
    for count in counts:
        for opponent, seat, other in np.argwhere(count.outcomes.sum(3) > 0).tolist():
            place = (opponent, seat, other)
            outcomes, earned = sums.get(place, (np.zeros(3, np.int64), np.zeros(2)))
            sums[place] = outcomes + count.outcomes[place], earned + count.earned[place]
    return sums
