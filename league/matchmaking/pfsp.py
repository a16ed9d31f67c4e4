"""Prioritised fictitious self-play: opponents weighted by how the learner does against them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from league.errors import InvalidInput
from league.validation import Floats, finite, one_of, win_rate_vector

NEGLIGIBLE: Final = 1e-10
"""Weights with a smaller sum are rounding errors: then all opponents are equally likely."""

WEIGHTINGS: Final[dict[str, Callable[[Floats, float], Floats]]] = {
    "squared": lambda rates, power: (1 - rates) ** 2,
    "hard": lambda rates, power: (1 - rates) ** power,
    "variance": lambda rates, power: rates * (1 - rates),
    "linear": lambda rates, power: 1 - rates,
    "linear_capped": lambda rates, power: np.minimum(0.5, 1 - rates),
    "uniform": lambda rates, power: np.ones_like(rates),
}


def pfsp(win_rates: ArrayLike, weighting: str = "squared", power: float = 2.0) -> Floats:
    """Probabilities of opponents from the learner's win rates against them; empty for no opponents.

    `power` is the exponent of the `hard` weighting and of no other.
    """
    one_of(weighting, WEIGHTINGS, "PFSP weighting")
    if finite(power, "power") < 0:
        raise InvalidInput(f"power must not be negative, got {power!r}")
    rates = win_rate_vector(win_rates)
    weights = WEIGHTINGS[weighting](rates, power)
    total = weights.sum()
    if total < NEGLIGIBLE:
        weights, total = np.ones_like(rates), float(rates.size)
    return np.asarray(weights / total) if rates.size else weights
