"""Ape-X, Horgan et al. 2018: prioritised replay fed by many actors, each with an exploration rate of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orchestrator.spec.algorithms.value_based import ApexOptions
from workers.algorithms.value_based.dqn import Dqn
from workers.inference.actor import Rate


class Apex(Dqn):
    """DQN (double, dueling, n-step, prioritised) of which table i of N explores at epsilon^(1 + a i / (N - 1)).

    The tables of all processes are counted. In a split crew many rollout actors feed the buffers of the trainers; in a
    fused one each process draws from its own buffer, and gradients are averaged.
    """

    Options = ApexOptions
    options: ApexOptions

    def explore_at(self, rate: float, tables: NDArray[np.int64], total: int) -> Rate:
        share = tables / max(1, total - 1)
        return np.asarray(rate ** (1.0 + self.options.explore_spread * share), np.float32)
