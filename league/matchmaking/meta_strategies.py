"""Meta-strategy solvers for a symmetric zero-sum game: a probability for each player of the pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from league.ratings import alpha_rank, nash_average
from league.validation import Floats, margins, whole_count


def fictitious_play(payoff: ArrayLike, iterations: int = 20_000) -> Floats:
    """Fictitious play: the average of repeated best responses; tied best responses share equally."""
    game = margins(payoff)
    whole_count(iterations, "iterations")
    n = len(game)
    if n == 0:
        return np.zeros(0)
    total = np.full(n, 1.0 / n)
    values = game @ total
    for _ in range(iterations):
        best = np.flatnonzero(values >= values.max() - 1e-12)
        total[best] += 1 / best.size
        values += game[:, best].mean(axis=1)
    return np.asarray(total / total.sum())


def projected_replicator(
    payoff: ArrayLike, iterations: int = 20_000, step: float = 0.01, floor: float = 1e-6
) -> Floats:
    """Replicator dynamics kept at least `floor` away from zero, averaged over the whole run."""
    game = margins(payoff)
    whole_count(iterations, "iterations")
    n = len(game)
    if n == 0:
        return np.zeros(0)
    now = np.full(n, 1.0 / n)
    total = now.copy()
    for _ in range(iterations):
        values = game @ now
        now = project_to_simplex(now + step * now * (values - values @ now), floor)
        total += now
    return np.asarray(total / total.sum())


def project_to_simplex(point: Floats, floor: float) -> Floats:
    """The Euclidean projection onto distributions with every probability at least `floor`."""
    ordered = np.sort(point)[::-1]
    counts = np.arange(1, point.size + 1)
    # the shift that makes the k largest sum to 1 while the others sit on the floor
    shifts = (1 - np.cumsum(ordered) - (point.size - counts) * floor) / counts
    largest = int(np.flatnonzero(ordered + shifts > floor)[-1]) if (ordered + shifts > floor).any() else 0
    return np.asarray(np.maximum(point + shifts[largest], floor))


def _alpha_rank(payoff: Floats, alpha: float) -> Floats:
    # scaled to win rates, so that one alpha means the same in every game
    return alpha_rank((1 + margins(payoff)) / 2, alpha=alpha)


def _uniform(payoff: Floats, alpha: float) -> Floats:
    return np.full(len(payoff), 1 / len(payoff))


META_STRATEGIES: Final[dict[str, Callable[[Floats, float], Floats]]] = {
    "nash": lambda payoff, alpha: nash_average(payoff)[0],
    "fictitious_play": lambda payoff, alpha: fictitious_play(payoff),
    "alpha_rank": _alpha_rank,
    "uniform": _uniform,
    "projected_replicator": lambda payoff, alpha: projected_replicator(payoff),
}
