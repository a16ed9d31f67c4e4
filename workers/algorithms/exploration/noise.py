"""Noise for actions of a Box: Gaussian and Ornstein-Uhlenbeck, as functions of uniform draws.

Equal draws give equal noise, so that a generation is a function of its seeds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from workers.inference.actor import Rate
from workers.models.draws import LEAST_DRAW


def standard_normal(draws: NDArray[np.float32]) -> NDArray[np.float32]:
    """Standard normal numbers, by inverting the distribution at uniform draws in [0, 1)."""
    return np.asarray(ndtri(np.clip(draws.astype(np.float64), LEAST_DRAW, 1.0 - LEAST_DRAW)), np.float32)


def expand_draws(draws: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """So many further uniform numbers for each draw, [rows, count], by hashing it: no row depends on another.

    The hash is the finalizer of SplitMix64 (Steele et al., 2014).
    """
    seeds = draws.view(np.uint32).astype(np.uint64)[:, None] << np.uint64(32)
    mixed = seeds + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)


def gaussian(draws: NDArray[np.float32], scale: Rate, limit: float = math.inf) -> NDArray[np.float32]:
    """Independent normal noise of this standard deviation, cut off at `limit`."""
    return np.asarray(np.clip(standard_normal(draws) * np.asarray(scale, np.float32), -limit, limit), np.float32)


def ornstein_uhlenbeck(
    before: NDArray[np.float32],
    draws: NDArray[np.float32],
    scale: Rate,
    *,
    theta: float = 0.15,
    mean: float = 0.0,
    step: float = 1.0,
) -> NDArray[np.float32]:
    """The next noise of a process that returns to its mean (Uhlenbeck & Ornstein, 1930), as DDPG uses it.

    x' = x + theta * (mean - x) * step + scale * sqrt(step) * N(0, 1); `before` is x, zeros at the start of a game.
    """
    drift = np.float32(theta * step) * (np.float32(mean) - before)
    return np.asarray(
        before + drift + np.asarray(scale * math.sqrt(step), np.float32) * standard_normal(draws), np.float32
    )
