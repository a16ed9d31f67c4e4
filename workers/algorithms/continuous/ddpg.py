"""Deep deterministic policy gradients (DDPG), Lillicrap et al. 2016."""

from __future__ import annotations

from orchestrator.spec.algorithms.continuous import DdpgOptions
from workers.algorithms.continuous.deterministic import Deterministic


class Ddpg(Deterministic):
    """One critic, one deterministic policy mu, and lagged copies Q' and mu' of both.

        y     = r + gamma Q'(s', mu'(s'))
        J(Q)  = E (Q(s, a_replayed) - y)^2
        J(mu) = -E Q(s, mu(s))

    Actions are sampled with noise: Gaussian, or the paper's Ornstein-Uhlenbeck process.
    """

    Options = DdpgOptions
    critics = 1
