"""Explore: the hyperparameters of a member after a copy, and the ones that members start with.

See docs/decisions/populations.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from league.populations.rules import Exploration
from league.seeds import derived_seed


class How(StrEnum):
    """How a value was found."""

    PERTURBED = "perturbed"
    RESAMPLED = "resampled"


@dataclass(frozen=True, kw_only=True)
class Change:
    """One hyperparameter of a copy: the donor's value, the new one, and how that was found."""

    before: float
    after: float
    how: How
    factor: float | None = None


def explore(rules: Mapping[str, Exploration], values: Mapping[str, float], seed: int) -> dict[str, Change]:
    """Change the donor's values by the rules; equal seeds give equal changes, in whatever order the rules are."""
    return {name: _changed(rules[name], values[name], derived_seed(seed, name)) for name in sorted(rules)}


def first_values(rules: Mapping[str, Exploration], size: int, seed: int) -> list[dict[str, float | int]]:
    """The values that each of `size` members starts with.

    Each range is cut into as many parts as there are members, and each member draws from a part of its own (a Latin
    hypercube), so that a few members cover the range.
    """
    values: list[dict[str, float | int]] = [{} for _ in range(size)]
    for name in sorted(rules):
        bounds = rules[name].first
        if bounds is None:
            continue
        rng = np.random.default_rng(derived_seed(seed, name))
        shares = (rng.permutation(size) + rng.random(size)) / size
        for own, share in zip(values, shares.tolist(), strict=True):
            own[name] = rules[name].fitted(within(bounds, share))
    return values


def within(bounds: Sequence[float], share: float) -> float:
    """The point at this share of a range: on a logarithmic scale where the range is above 0, else on a linear one."""
    low, high = bounds
    return math.exp(math.log(low) * (1 - share) + math.log(high) * share) if low > 0 else low + (high - low) * share


def _changed(rule: Exploration, value: float, seed: int) -> Change:
    rng = np.random.default_rng(seed)
    anew, share, pick = rng.random(3).tolist()
    if rule.resample is not None and (not rule.perturb or anew < rule.resample_probability):
        return Change(before=value, after=rule.fitted(within(rule.resample, share)), how=How.RESAMPLED)
    factor = rule.perturb[int(pick * len(rule.perturb))]
    return Change(before=value, after=rule.fitted(value * factor), how=How.PERTURBED, factor=factor)
