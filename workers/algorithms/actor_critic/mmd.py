"""Magnetic mirror descent (MMD), Sokota et al. 2023: self-play whose last policy approaches an equilibrium."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from orchestrator.spec.algorithms.actor_critic import MmdOptions
from workers.algorithms.actor_critic.anchor import Anchor
from workers.algorithms.actor_critic.ppo import Ppo
from workers.algorithms.evaluation import Rows, outputs_of
from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.targets.recursion import Floats
from workers.rollout.batch import Experience


class Mmd(Ppo):
    """pi_(t+1) = argmin over pi of -<A, pi> + alpha_t KL(pi, magnet) + 1 / eta_t KL(pi, pi_t).

    The magnet is the uniform policy (an entropy bonus of alpha_t), or with `anchor` a copy of the player. In two-player
    zero-sum games this converges to a quantal response equilibrium of temperature alpha, where the policy gradient goes
    in circles. alpha_t, eta_t and the learning rate shrink with 1 / sqrt(1 + t / anneal_steps), t in gradient steps.
    """

    Options = MmdOptions
    options: MmdOptions

    def anneal(self, learner: Learner) -> float:
        """What temperature and step size are multiplied with in this update."""
        every = self.options.anneal_steps
        return float((1.0 + learner.updates / every) ** -0.5) if every else 1.0

    def scaled(self, advantages: Floats, trainable: Rows, spread: float) -> Floats:
        """In units of the returns' spread, so that one temperature suits games of any stakes."""
        if self.options.normalise_advantages:
            return super().scaled(advantages, trainable, spread)
        return advantages / np.float32(spread)

    def entropy_weight(self, learner: Learner) -> float:
        return self.options.entropy * self.anneal(learner)

    def anchors(self, learner: Learner, batch: Experience) -> list[Anchor]:
        if not self.options.learning_rate_steps:
            learner.optimisers[POLICY].learning_rate = self.options.learning_rate * self.anneal(learner)
        step = self.options.step_size * self.anneal(learner)
        present = Anchor(outputs_of(learner, batch, learner.model), 1.0 / step, "step_kl")
        return [*super().anchors(learner, batch), present]

    def free(self, ratio: Tensor, advantages: Tensor) -> Tensor:
        """By default every row: the divergence from the present policy bounds the step."""
        return super().free(ratio, advantages) if self.options.clip else torch.ones_like(ratio, dtype=torch.bool)
