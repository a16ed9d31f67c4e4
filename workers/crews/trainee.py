"""The learning side of one process: model, optimiser and algorithm, from checkpoint to checkpoint."""

from __future__ import annotations

import numpy as np
import torch

from league.types import CheckpointRef
from orchestrator.artifacts import ArtifactStore
from workers.algorithms.contract import algorithm_class, parse_options
from workers.algorithms.learner import Learner
from workers.checkpoints import Checkpoint, load, save
from workers.crews.member import CrewPlan, Ring, fresh_weights
from workers.crews.task import GenerationTask
from workers.games.protocol import GameSpec, VectorGame
from workers.models.contract import build_model
from workers.models.normalised import Normalised
from workers.rollout.batch import SampleBatch


class Trainee:
    """Holds the player that learns. Between generations it stays as it was left, so a warm crew loads nothing."""

    def __init__(self, plan: CrewPlan, store: ArtifactStore, game: VectorGame, ring: Ring | None) -> None:
        self._plan, self._store, self._game = plan, store, game
        self._ring = ring
        self._rows = 1
        self.options = parse_options(plan.algorithm)
        self.learner = Learner(build_model(plan.model, game.spec), ring.average if ring else None)
        self._rng = np.random.default_rng(0)
        self._steps = 0
        self._seed = 0

    def prepare(self, task: GenerationTask, reload: bool, rank: int) -> None:
        """Be the task's learner; `reload` is False when this process already is."""
        if task.learner is None:
            self.learner.load_weights(fresh_weights(self._plan, self._game, task.seed))
            self.learner.load_optimizer({})
            self._steps = 0
        elif reload:
            checkpoint = load(self._store, task.learner, like=self.learner.model.state_dict())
            self.learner.load_weights(checkpoint.weights)
            self.learner.load_optimizer(checkpoint.optimizer)
            self._steps = checkpoint.steps
        torch.manual_seed(task.seed)
        self._seed = task.seed
        self._rng = np.random.default_rng([task.seed, 4, rank])
        self._rows = expected_rows(task, self._game.spec, self.options.rollout_steps)
        self.algorithm = algorithm_class(self._plan.algorithm)(self.learner, self.options, self._rows)

    def update(self, batch: SampleBatch) -> dict[str, float]:
        """Learn from one batch."""
        model = self.learner.model
        if isinstance(model, Normalised):
            moments = model.moments(torch.from_numpy(batch.observations))
            if self._ring is not None:
                self._ring.average(moments)
            model.absorb(moments, self._rows)
        return self.algorithm.update(batch, self._rng)

    def count(self, steps: int) -> None:
        """Environment steps that the whole crew has sampled and learnt from."""
        self._steps += steps

    def save(self) -> CheckpointRef:
        """Store the learner as it is."""
        checkpoint = Checkpoint(
            model=self._plan.model,
            game=self._plan.game,
            weights=self.learner.weights(),
            optimizer=self.learner.optimizer_state(),
            rng={"seed": self._seed},
            steps=self._steps,
        )
        return save(self._store, checkpoint)


def expected_rows(task: GenerationTask, spec: GameSpec, rollout_steps: int) -> int:
    """Decisions of learning seats in one update of the whole crew, on average."""
    live = task.shares[0] if spec.seats > 1 else 1.0
    learning = live + (1.0 - live) / spec.seats
    width = spec.seats if spec.simultaneous else 1
    return round(rollout_steps * task.tables * task.rollout_actors * width * learning)
