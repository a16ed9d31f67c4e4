"""Lambda-returns, the targets of TD(lambda), Sutton 1988."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workers.algorithms.targets.recursion import discounted_sums, known_rows, temporal_differences
from workers.rollout.batch import Experience


def td_lambda(
    batch: Experience, gamma: float, lam: float, values: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """R_t = r_t + gamma * ((1 - lambda) * V(s_(t+1)) + lambda * R_(t+1)); a row without a successor has its value.

    `values` are V of each row; by default those that the actor recorded.
    """
    estimates = batch.values if values is None else values
    known = known_rows(batch)
    errors = known * temporal_differences(batch, estimates, gamma)
    found: NDArray[np.float32] = estimates + discounted_sums(batch, errors, known * np.float32(gamma * lam))[:-1]
    return found
