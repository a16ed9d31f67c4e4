"""Exploration among Discrete actions: epsilon-greedy and Boltzmann, as functions of uniform draws.

`draws` are uniform in [0, 1), one a row; equal draws give equal actions. `legal` is [rows, actions], or None.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workers.inference.actor import Rate
from workers.models.draws import BELOW_ONE


def epsilon_greedy(
    best: NDArray[np.int64],
    actions: int,
    legal: NDArray[np.bool_] | None,
    draws: NDArray[np.float32],
    epsilon: Rate,
) -> NDArray[np.int64]:
    """`best`, or with the chance `epsilon` any legal action, all equally likely."""
    random = np.flatnonzero(draws < epsilon)
    if not len(random):
        return best
    rate = epsilon if isinstance(epsilon, float | int) else epsilon[random]
    # the part of a draw below `epsilon` is uniform again
    again = np.minimum(draws[random] / rate, BELOW_ONE)
    found = best.copy()
    found[random] = uniform(actions, None if legal is None else legal[random], again)
    return found


def uniform(actions: int, legal: NDArray[np.bool_] | None, draws: NDArray[np.float32]) -> NDArray[np.int64]:
    """Legal actions, all equally likely."""
    if legal is None:
        return (draws * actions).astype(np.int64)
    ladder = legal.cumsum(1)
    wanted = (draws * ladder[:, -1]).astype(np.int64) + 1
    chosen: NDArray[np.int64] = (ladder < wanted[:, None]).sum(1)
    return chosen


def boltzmann_probabilities(
    values: NDArray[np.float32], legal: NDArray[np.bool_] | None, temperature: float
) -> NDArray[np.float32]:
    """p(a) = exp(Q(a) / temperature) / sum over the legal actions; a forbidden action has 0."""
    scaled = values / np.float32(temperature)
    if legal is not None:
        scaled = np.where(legal, scaled, -np.inf)
    powers = np.exp(scaled - scaled.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True), np.float32)


def boltzmann(
    values: NDArray[np.float32],
    legal: NDArray[np.bool_] | None,
    draws: NDArray[np.float32],
    temperature: float,
) -> NDArray[np.int64]:
    """Actions drawn by `boltzmann_probabilities`."""
    ladder = boltzmann_probabilities(values, legal, temperature).cumsum(1)
    points = np.minimum(draws, BELOW_ONE)[:, None] * ladder[:, -1:]
    chosen: NDArray[np.int64] = (ladder <= points).sum(1)
    return chosen
