"""Advantage actor-critic (A2C), the synchronous form of A3C, Mnih et al. 2016."""

from __future__ import annotations

import numpy as np

from orchestrator.spec.algorithms.actor_critic import A2cOptions
from workers.algorithms.actor_critic.policy_gradient import PolicyGradient
from workers.algorithms.targets.gae import Targets, gae
from workers.rollout.batch import Experience


class A2c(PolicyGradient):
    """One policy-gradient pass per batch with generalised advantages.

    A_t = sum_k (gamma lambda)^k (r_(t+k) + gamma V(s_(t+k+1)) - V(s_(t+k))), and the value's target is A_t + V(s_t);
    with lambda 1 this is A3C's k-step return.
    """

    Options = A2cOptions
    options: A2cOptions
    corrects = False

    def targets(self, played: Experience, present: Experience) -> Targets:
        found = gae(played, self.options.gamma, self.options.gae_lambda)
        known = found.advantages[played.trainable]
        if not self.options.normalise_advantages or len(known) < 2:
            return found
        scaled = (found.advantages - known.mean()) / (known.std() + np.float32(1e-8))
        return Targets(advantages=scaled, returns=found.returns)
