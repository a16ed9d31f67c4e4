"""alpha-rank of one population with constant-sum payoffs: the stationary distribution of its chain over players."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from league.errors import InvalidInput
from league.validation import Floats, above_even, strictly_between, whole_count

EVEN: Final = 1e-14
"""Selection strengths below this count as 0."""


def alpha_rank(payoff: ArrayLike, alpha: float, population: int = 50, *, epsilon: float = 0.01) -> Floats:
    """The stationary distribution over players of `payoff` at ranking intensity `alpha`.

    `payoff` is of constant sum: win rates (sum 1), an antisymmetric game (sum 0), or any other.

    `alpha=math.inf` takes the infinite-alpha form, in which a worse player still takes over with probability `epsilon`,
    so that the answer is unique even where evolution has several absorbing states.
    """
    strength = above_even(payoff)
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number) or not alpha >= 0:
        raise InvalidInput(f"alpha must be a number of at least 0 (math.inf included), got {alpha!r}")
    if whole_count(population, "population") < 2:
        raise InvalidInput(f"population must be at least 2, got {population!r}")
    strictly_between(epsilon, 0, 0.5, "epsilon")
    if len(strength) < 2:
        return np.ones(len(strength))
    if math.isinf(alpha):
        rates = np.select([strength > EVEN, strength < -EVEN], [1 - epsilon, epsilon], 0.5)
        return _stationary(np.log(rates))
    return _stationary(log_fixation(strength, float(alpha), population))


def log_fixation(strength: Floats, alpha: float, population: int) -> Floats:
    """The logarithm of the chance that one mutant of row r takes over a population of column s.

    rho = (1 - e^-u) / (1 - e^-mu), and 1/m at u = 0. A losing mutant's chance, e^-(m-1)|u| or so, is kept as
    a logarithm: as a number it would underflow to 0 and disconnect the chain.
    """
    u = np.clip(alpha * (population / (population - 1)) * strength, -1e12, 1e12)
    size = np.maximum(np.abs(u), EVEN)
    winning = np.log(-np.expm1(-size)) - np.log(-np.expm1(-population * size))
    losing = winning - (population - 1) * size
    return np.asarray(np.where(np.abs(u) <= EVEN, -math.log(population), np.where(u > 0, winning, losing)))


def _stationary(log_rates: Floats) -> Floats:
    """The stationary distribution of a chain that goes from column to row at these rates.

    States are eliminated one by one without subtractions (the GTH algorithm), in logarithms: accurate for all rates.
    The common factor 1/(n-1) and the chance to stay cancel.
    """
    flows = log_rates.T.copy()
    count = len(flows)
    np.fill_diagonal(flows, -np.inf)
    leaving = np.zeros(count)
    for state in range(count - 1, 0, -1):
        leaving[state] = np.logaddexp.reduce(flows[state, :state])
        through = flows[:state, state, None] + flows[state, None, :state] - leaving[state]
        flows[:state, :state] = np.logaddexp(flows[:state, :state], through)
    weights = np.zeros(count)
    for state in range(1, count):
        weights[state] = np.logaddexp.reduce(weights[:state] + flows[:state, state]) - leaving[state]
    chances = np.exp(weights - weights.max())
    return np.asarray(chances / chances.sum())
