"""What a training process keeps between generations: the model, its optimiser and the algorithm."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from league.types import CheckpointRef
from orchestrator.artifacts import ArtifactStore
from workers.algorithms.contract import algorithm_class, parse_options
from workers.algorithms.learner import Learner
from workers.algorithms.metrics import MetricMeans
from workers.checkpoints import Checkpoint, load, save
from workers.crews.all_reduce import GradientAllReduce
from workers.crews.plan import CrewPlan
from workers.crews.task import GenerationTask
from workers.games.protocol import GameSpec, VectorGame
from workers.models.contract import build_model, encode
from workers.models.encoding import to_tensors
from workers.models.normalised import Normalised
from workers.rollout.batch import Experience


class TrainingContext:
    """The training side of one process. Its learner is kept after a generation, so a warm crew loads nothing."""

    def __init__(
        self, plan: CrewPlan, store: ArtifactStore, game: VectorGame, all_reduce: GradientAllReduce | None
    ) -> None:
        self._plan, self._store, self._game = plan, store, game
        self._all_reduce = all_reduce
        self._rows = 1
        self.learner = Learner(build_model(plan.model, game.spec), all_reduce.average if all_reduce else None)
        self._rng = np.random.default_rng(0)
        self._steps = 0
        self._seed = 0

    def prepare(self, task: GenerationTask, reload: bool, rank: int) -> None:
        """Load the task's learner and make its algorithm; `reload` is False when this process holds the learner."""
        self.options = parse_options(task.algorithm)
        if task.learner is None:
            self.learner.load_weights(initial_weights(self._plan, self._game, task.seed))
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
        self.algorithm = algorithm_class(task.algorithm)(self.learner, self.options, self._rows)

    def update(self, batch: Experience, means: MetricMeans) -> None:
        """Train on one batch; adds the update's metrics to `means`."""
        model = self.learner.model
        if isinstance(model, Normalised):
            moments = model.moments(encode(model, to_tensors(batch.observations)))
            if self._all_reduce is not None:
                self._all_reduce.average(moments)
            model.absorb(moments, self._rows)
        # Rollouts run in eval mode: a dropout must not change stored log-probabilities.
        model.train()
        metrics = self.algorithm.update(batch, self._rng)
        model.eval()
        means.add(metrics, batch.trainable_rows, self.algorithm.count_metrics)

    def count_steps(self, steps: int) -> None:
        """Add the environment steps that the whole crew sampled in this generation."""
        self._steps += steps

    def save(self) -> CheckpointRef:
        """Store the learner's checkpoint."""
        checkpoint = Checkpoint(
            model=self._plan.model,
            game=self._plan.game,
            weights=self.learner.weights(),
            optimizer=self.learner.optimizer_state(),
            rng={"seed": self._seed},
            steps=self._steps,
        )
        return save(self._store, checkpoint)


def initial_weights(plan: CrewPlan, game: VectorGame, seed: int) -> dict[str, Tensor]:
    """Random weights for a player without a checkpoint."""
    weights_seed = int(np.random.SeedSequence([seed, 3]).generate_state(1, np.uint64)[0] >> np.uint64(1))
    return dict(build_model(plan.model, game.spec, weights_seed).state_dict())


def expected_rows(task: GenerationTask, spec: GameSpec, rollout_steps: int) -> int:
    """The mean number of the learner's decisions in one update of the whole crew."""
    live = task.shares[0] if spec.team_count > 1 else 1.0
    mixed = sum(task.mate_shares[1:])
    # a mixed team has one seat of the learner's, and teams are played equally often
    learning = live + (1.0 - live) / spec.team_count - mixed * (1.0 / spec.team_count - 1.0 / spec.seats)
    width = spec.seats if spec.simultaneous else 1
    return round(rollout_steps * task.tables * task.rollout_actors * width * learning)
