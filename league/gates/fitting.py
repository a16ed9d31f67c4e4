"""Constrained maximum likelihood: the likeliest distribution with a given mean, or a given ratio of mean to deviation.

The likeliest q under sum(q * b) = 0 is q = p / (1 + t b), with t the root of sum(p b / (1 + t b)).

See docs/decisions/gates.md.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from scipy.optimize import brentq

from league.errors import InvalidInput
from league.validation import Floats

HALVINGS: Final = 80
REACH: Final = 200.0
PAST_MIDDLE: Final = 0.55
"""The search from one end goes a little past the middle, because rounding may put the root there."""
COARSE: Final = 129
FINE: Final = 33
ZOOMS: Final = 6
PEAKS: Final = 3


def fit_mean(observed: Floats, condition: Floats) -> Floats:
    """The likeliest distribution with sum(q * condition) = 0; `condition` takes both signs."""
    if not condition.min() < 0 < condition.max():
        raise InvalidInput("no distribution over these outcomes has such a score")
    low, high = -1 / float(condition.max()), -1 / float(condition.min())
    from_low = float((observed * condition / (1 + (low + high) / 2 * condition)).sum()) <= 0
    sign = 1.0 if from_low else -1.0
    rest = 1 - condition / (condition.max() if from_low else condition.min())
    terms = list(zip(observed.tolist(), condition.tolist(), rest.tolist(), strict=True))

    def total(logarithm: float) -> float:
        distance = sign * math.exp(logarithm)
        return math.fsum(p * b / (r + distance * b) for p, b, r in terms)

    # the same equation as in `_tilted`; for one row plain floats are ten times as fast
    furthest = math.log((high - low) * PAST_MIDDLE)
    root = brentq(total, furthest - REACH, furthest, xtol=1e-14)
    fit = observed / (rest + sign * math.exp(root) * condition)
    return np.asarray(fit / fit.sum())


def fit_ratio(observed: Floats, centred: Floats, ratio: float) -> Floats:
    """The likeliest distribution whose mean of `centred` is `ratio` times its standard deviation.

    With m1 and m2 the first two moments the condition is m1 = c sqrt(m2), c = ratio / sqrt(1 + ratio^2), and
    sqrt(m2) is the minimum of (m2/u + u) / 2 over u > 0, at u = sqrt(m2): linear in q for every u. So a search
    over u alone finds mean and deviation together.
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
    """Scan u coarsely, then refine the best local maxima: two of them may be nearly equal."""
    top = math.log(np.abs(centred).max())
    # the likeliest u is about slope * |score| when nearly everything sits on the middle outcome
    grid = np.linspace(math.log(slope * np.abs(centred[centred != 0]).min()) - 3, top, COARSE)
    values, _ = _fits(observed, centred, slope, grid, tightest=tightest)
    if not np.isfinite(values).any():
        raise InvalidInput("no distribution over these outcomes has such a normalized Elo")
    best_value, best = -math.inf, observed
    for peak in _peaks(values):
        low, high = grid[max(peak - 1, 0)], grid[min(peak + 1, COARSE - 1)]
        for _ in range(ZOOMS):
            closer = np.linspace(low, high, FINE)
            heights, fits = _fits(observed, centred, slope, closer, tightest=tightest)
            index = int(np.argmax(heights))
            low, high = closer[max(index - 1, 0)], closer[min(index + 1, FINE - 1)]
        if heights[index] > best_value:
            best_value, best = float(heights[index]), fits[index]
    return np.asarray(best)


def _peaks(values: Floats) -> list[int]:
    """Indices of the local maxima, the highest first."""
    padded = np.concatenate([[-math.inf], values, [-math.inf]])
    peaks = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]) & np.isfinite(values))
    return [int(peak) for peak in peaks[np.argsort(-values[peaks], kind="stable")][:PEAKS]]


def _fits(
    observed: Floats, centred: Floats, slope: float, logarithms: Floats, *, tightest: bool
) -> tuple[Floats, Floats]:
    """For every u its objective (the log-likelihood, negated if `tightest`) and the fitted distribution."""
    sizes = np.exp(logarithms)[:, None]
    conditions = centred - slope * (centred**2 / sizes + sizes) / 2
    usable = (conditions.min(axis=1) < 0) & (conditions.max(axis=1) > 0)
    if tightest:
        # where the observed distribution itself meets the condition, that condition does not bind
        usable &= conditions @ observed > 0
    fits = np.full((logarithms.size, observed.size), np.nan)
    heights = np.full(logarithms.size, -math.inf)
    if usable.any():
        fits[usable] = _tilted(observed, conditions[usable])
        heights[usable] = (np.log(fits[usable]) @ observed) * (-1 if tightest else 1)
    return heights, fits


def _tilted(observed: Floats, conditions: Floats) -> Floats:
    """For every row b of `conditions` the distribution p / (1 + t b); t is found by bisection.

    The constrained sum falls as t grows, so the root is unique.

    A rare outcome drives t so close to an end of its range that 1 + t b loses all its digits; so t is measured
    from the nearer end, on a logarithmic scale.
    """
    low, high = -1 / conditions.max(axis=1), -1 / conditions.min(axis=1)
    middle = _total(observed, conditions, 1 + ((low + high) / 2)[:, None] * conditions)
    from_low = middle <= 0
    end = np.where(from_low, conditions.max(axis=1), conditions.min(axis=1))[:, None]
    rest, sign = 1 - conditions / end, np.where(from_low, 1.0, -1.0)[:, None]
    furthest = np.log((high - low) * PAST_MIDDLE)
    nearest = furthest - REACH
    for _ in range(HALVINGS):
        centre = (nearest + furthest) / 2
        total = _total(observed, conditions, rest + sign * np.exp(centre)[:, None] * conditions)
        further = (total > 0) == from_low
        nearest, furthest = np.where(further, centre, nearest), np.where(further, furthest, centre)
    fits = observed / (rest + sign * np.exp((nearest + furthest) / 2)[:, None] * conditions)
    return np.asarray(fits / fits.sum(axis=1, keepdims=True))


def _total(observed: Floats, conditions: Floats, divisors: Floats) -> Floats:
    return np.asarray((observed * conditions / divisors).sum(axis=1))
