"""Sums along each seat's trajectory, from its last decision to its first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workers.rollout.batch import PENDING, Experience

Floats = NDArray[np.float32]


def known_rows(batch: Experience) -> Floats:
    """1 for each row whose successor is known, 0 for the others, which only bootstrap."""
    known: Floats = (batch.next_row != PENDING).astype(np.float32)
    return known


def temporal_differences(batch: Experience, values: Floats, gamma: float) -> Floats:
    """delta_t = r_t + gamma * V(s_(t+1)) - V(s_t); V is 0 after the end of a game."""
    # One extra zero at the end: index TERMINAL (-1) reads it.
    following = np.append(values, np.float32(0))[batch.next_row]
    differences: Floats = batch.rewards + np.float32(gamma) * following - values
    return differences


def discounted_sums(batch: Experience, terms: Floats, decay: Floats) -> Floats:
    """x_t = terms_t + decay_t * x_(t+1) along the links; x is 0 after a game's end. One more 0 ends the array."""
    sums = np.zeros(len(terms) + 1, np.float32)
    offsets = batch.offsets.tolist()
    for start, end in zip(reversed(offsets[:-1]), reversed(offsets[1:]), strict=True):
        following = sums[batch.next_row[start:end]]
        sums[start:end] = terms[start:end] + decay[start:end] * following
    return sums
