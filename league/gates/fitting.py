"""Fitting a distribution under one condition: the likeliest one of a given mean, or of a given mean per deviation.

The likeliest q under sum(q * b) = 0 is q = p / (1 + t b), with t the root of sum(p b / (1 + t b)).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from league.errors import InvalidInput
from league.validation import Floats

HALVINGS: Final = 200
GRID: Final = 65
ZOOMS: Final = 12


def fit_mean(observed: Floats, condition: Floats) -> Floats:
    """The likeliest distribution with sum(q * condition) = 0; `condition` takes both signs."""
    if not condition.min() < 0 < condition.max():
        raise InvalidInput("no distribution over these outcomes has such a score")
    return _tilted(observed, condition[None, :])[0]


def fit_ratio(observed: Floats, centred: Floats, ratio: float) -> Floats:
    """The likeliest distribution whose mean of `centred` is `ratio` times its standard deviation.

    With m1 and m2 the first two moments the condition is m1 = c sqrt(m2), c = ratio / sqrt(1 + ratio^2), and
    sqrt(m2) is the least (m2/u + u) / 2 over u > 0, at u = sqrt(m2): linear in q for every u. So mean and
    deviation are solved together by searching the one u.
    """
    if ratio == 0:
        return fit_mean(observed, centred)
    if ratio < 0:
        # the mirror image, whose centred scores are the same for symmetric outcomes
        return fit_ratio(observed[::-1], -centred[::-1], -ratio)[::-1]
    slope = ratio / math.sqrt(1 + ratio * ratio)
    mean, second = float(observed @ centred), float(observed @ centred**2)
    # above the wanted ratio q must satisfy the conditions of all u at once (the tightest decides);
    # below it any one of them is enough (the likeliest decides)
    above = mean > slope * math.sqrt(second)
    return _search(observed, centred, slope, tightest=above)


def _search(observed: Floats, centred: Floats, slope: float, *, tightest: bool) -> Floats:
    low, high = np.log(np.abs(centred[centred != 0]).min()) - 12, math.log(np.abs(centred).max())
    best = np.zeros_like(observed)
    for _ in range(ZOOMS):
        sizes = np.exp(np.linspace(low, high, GRID))
        conditions = centred - slope * (centred**2 / sizes[:, None] + sizes[:, None]) / 2
        feasible = (conditions.min(axis=1) < 0) & (conditions.max(axis=1) > 0)
        if tightest:
            # where the observed distribution itself meets the condition, that condition does not bind
            feasible &= conditions @ observed > 0
        fits = np.full((GRID, observed.size), np.nan)
        fits[feasible] = _tilted(observed, conditions[feasible])
        values = np.full(GRID, math.inf if tightest else -math.inf)
        values[feasible] = np.log(fits[feasible]) @ observed
        index = int(np.argmin(values) if tightest else np.argmax(values))
        if not feasible.any():
            raise InvalidInput("no distribution over these outcomes has such a normalized Elo")
        best = fits[index]
        width = (high - low) / (GRID - 1)
        centre = low + width * index
        low, high = centre - 1.5 * width, min(centre + 1.5 * width, math.log(np.abs(centred).max()))
    return np.asarray(best)


def _tilted(observed: Floats, conditions: Floats) -> Floats:
    """For every row b of conditions p / (1 + t b), with t found by halving: the sum falls as t grows."""
    low = -1 / conditions.max(axis=1)
    high = -1 / conditions.min(axis=1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        total = (observed * conditions / (1 + middle[:, None] * conditions)).sum(axis=1)
        rising = total > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    t = (low + high) / 2
    fits = observed / (1 + t[:, None] * conditions)
    return np.asarray(fits / fits.sum(axis=1, keepdims=True))
