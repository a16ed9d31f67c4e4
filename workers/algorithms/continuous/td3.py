"""Twin delayed deterministic policy gradients (TD3), Fujimoto et al. 2018."""

from __future__ import annotations

from torch import Tensor

from orchestrator.spec.algorithms.continuous import Td3Options
from workers.algorithms.continuous.deterministic import Deterministic


class Td3(Deterministic):
    """Two critics, a policy that steps more rarely, and targets smoothed over similar actions.

    a'     = clip(mu'(s') + clip(N(0, target_noise), -target_noise_clip, target_noise_clip), bounds)
    y      = r + gamma min_i Q'_i(s', a')
    J(Q_i) = E (Q_i(s, a_replayed) - y)^2
    J(mu)  = -E Q_1(s, mu(s)), once in policy_delay steps; the lagged networks move with it
    """

    Options = Td3Options
    options: Td3Options

    @property
    def policy_delay(self) -> int:
        return self.options.policy_delay

    def smoothed(self, actions: Tensor, noise: Tensor) -> Tensor:
        limit = self.options.target_noise_clip
        return (actions + (noise * self.options.target_noise).clamp_(-limit, limit)).clamp_(-1.0, 1.0)
