"""Generalised advantage estimation (GAE): A_t = sum_k (gamma * lambda)^k * delta_(t+k), by Schulman et al., 2016."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.rollout.batch import PENDING, Experience


@dataclass(frozen=True, kw_only=True)
class Targets:
    """Value targets and advantages, one per row."""

    advantages: NDArray[np.float32]
    returns: NDArray[np.float32]


def gae(batch: Experience, gamma: float, lam: float) -> Targets:
    """Generalised advantage estimates along every seat's own trajectory."""
    known = (batch.next_row != PENDING).astype(np.float32)
    # One extra zero at the end: index TERMINAL (-1) reads it.
    values = np.append(batch.values, np.float32(0))
    advantages = np.zeros_like(values)
    errors = batch.rewards + np.float32(gamma) * values[batch.next_row] - batch.values
    errors *= known
    decay = known * np.float32(gamma * lam)
    offsets = batch.offsets.tolist()
    for start, end in zip(reversed(offsets[:-1]), reversed(offsets[1:]), strict=True):
        rows = slice(start, end)
        following = advantages[batch.next_row[rows]]
        advantages[rows] = errors[rows] + decay[rows] * following
    return Targets(advantages=advantages[:-1], returns=advantages[:-1] + batch.values)
