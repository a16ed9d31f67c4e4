"""Generalised advantage estimation (GAE): A_t = sum_k (gamma * lambda)^k * delta_(t+k), by Schulman et al., 2016."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.algorithms.targets.recursion import discounted_sums, known_rows, temporal_differences
from workers.rollout.batch import Experience


@dataclass(frozen=True, kw_only=True)
class Targets:
    """Value targets and advantages, one per row."""

    advantages: NDArray[np.float32]
    returns: NDArray[np.float32]


def gae(batch: Experience, gamma: float, lam: float) -> Targets:
    """Generalised advantage estimates along every seat's own trajectory."""
    known = known_rows(batch)
    errors = temporal_differences(batch, batch.values, gamma)
    errors *= known
    advantages = discounted_sums(batch, errors, known * np.float32(gamma * lam))[:-1]
    return Targets(advantages=advantages, returns=advantages + batch.values)
