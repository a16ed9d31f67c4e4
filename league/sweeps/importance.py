"""How much of the differences between trials each field of a space explains, without any extra package.

For each field alone: the trials are put into bins by the field's value, and the importance is the share of the values'
variance that lies between the bins (the correlation ratio, eta squared), less what as many random bins would explain.
It sees no interactions; optuna's fANOVA does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from league.sweeps.space import Choice, Dimension, Space

MOST_BINS = 4
FEWEST_TRIALS = 4


def importances(space: Space, points: Sequence[Mapping[str, Any]], values: Sequence[float]) -> dict[str, float]:
    """The importance of each path, from 0 to 1, the largest first; empty with fewer than four values or no spread."""
    numbers = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(numbers)
    kept = [point for point, good in zip(points, finite, strict=True) if good]
    numbers = numbers[finite]
    if len(numbers) < FEWEST_TRIALS or float(numbers.var()) == 0.0:
        return {}
    # ranks: one trial that diverged must not outweigh all others
    ranks = np.argsort(np.argsort(numbers, kind="stable"), kind="stable").astype(np.float64)
    found = {path: _explained(_bins(one, [point[path] for point in kept]), ranks) for path, one in space.items()}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _bins(dimension: Dimension, values: Sequence[Any]) -> np.ndarray:
    if isinstance(dimension, Choice):
        return np.asarray([dimension.values.index(value) for value in values])
    positions = np.asarray([dimension.position(value) for value in values])
    count = min(MOST_BINS, max(2, len(values) // 3))
    order = np.argsort(np.argsort(positions, kind="stable"), kind="stable")
    return np.asarray(order * count // len(values))


def _explained(bins: np.ndarray, ranks: np.ndarray) -> float:
    total = float(((ranks - ranks.mean()) ** 2).sum())
    groups = [ranks[bins == each] for each in np.unique(bins)]
    if len(groups) < 2 or len(ranks) <= len(groups):
        return 0.0
    between = sum(len(group) * (float(group.mean()) - float(ranks.mean())) ** 2 for group in groups)
    within = total - between
    # epsilon squared: eta squared without the bias of small samples
    free = len(ranks) - len(groups)
    return max(0.0, (between - (len(groups) - 1) * within / free) / total)
