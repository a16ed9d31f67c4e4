"""Reinforcement mixed with imitation: PPO on one's own games, behaviour cloning on a data set, in one gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from torch import Tensor

from orchestrator.spec.algorithms.actor_critic import PpoOptions
from orchestrator.spec.algorithms.imitation import SlRlOptions
from workers.algorithms.actor_critic.ppo import Ppo, PpoGradients
from workers.algorithms.contract import Metrics
from workers.algorithms.imitation.likelihood import log_likelihood
from workers.algorithms.imitation.offline import validated
from workers.algorithms.learner import Learner
from workers.algorithms.metrics import MetricMeans
from workers.buffers.contract import Batch, Buffer
from workers.buffers.demonstrations import Demonstrations
from workers.games.protocol import GameSpec

ROWS = "sl_rl_rows"
"""The learner's counter of its own decisions, by which the weight of imitation changes."""


class SlRl(Ppo):
    """Minimises L = (1 - w) L_PPO + w E_D [ -log pi(a|s) ] + L_V.

    L_V is PPO's value loss on one's own games: it is learnt in full from the start. w goes from `imitation` to
    `imitation_end` over `imitation_rows` own decisions; with w = 1 at first, the player starts as an imitator.
    """

    Options: ClassVar[type[PpoOptions]] = SlRlOptions
    options: SlRlOptions
    recurrent = False

    def buffer(self, spec: GameSpec) -> Buffer:
        return Demonstrations(self.options, spec, gamma=self.options.gamma, folders=self.data_folders)

    def weight(self, learner: Learner) -> float:
        """The weight of imitation now."""
        options = self.options
        if not options.imitation_rows:
            return options.imitation
        done = min(1.0, learner.counters.get(ROWS, 0.0) / options.imitation_rows)
        return options.imitation + done * (options.imitation_end - options.imitation)

    def update(self, learner: Learner, buffer: Buffer, rng: np.random.Generator) -> Iterator[Metrics]:
        assert isinstance(buffer, Demonstrations)
        self._weight, self._data = self.weight(learner), buffer
        self._imitated = MetricMeans()
        yield from super().update(learner, buffer, rng)
        learner.counters[ROWS] = learner.counters.get(ROWS, 0.0) + self._expected_rows
        yield {**self._imitated.values(), "imitation": self._weight}

    def _gradients(self, *arguments: Any) -> PpoGradients:
        found = super()._gradients(*arguments)
        return found._replace(outputs=found.outputs.mul_(1.0 - self._weight))

    def _add_gradient(self, learner: Learner, rng: np.random.Generator) -> None:
        if not self._weight:
            return
        rows = max(1, round(self.options.imitation_minibatch / self.processes))
        drawn = self._data.draw(rows, rng)
        assert drawn is not None, "a data set has rows"

        def imitation_loss(batch: Batch) -> Tensor:
            return -log_likelihood(learner.model, batch)[0].mean()

        with learner.autocast():
            loss = imitation_loss(drawn.tensors(learner.device))
        (self._weight * loss).backward()  # type: ignore[no-untyped-call]
        self._imitated.add({"imitation_loss": float(loss.detach())}, 1)
        if learner.updates % self.options.validation_every == 0:
            measured = rows * self.options.validation_batches
            self._imitated.add(validated(learner, self._data, measured, rng, imitation_loss), 1)
