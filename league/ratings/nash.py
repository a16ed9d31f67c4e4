"""Nash averaging: the maximum-entropy equilibrium of the players' own game, and skill against it."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space
from scipy.optimize import linprog

from league.errors import InvalidInput, NotConverged
from league.validation import Floats, between, finite_array, margins, one_of, strictly_between

BARRIERS: Final = tuple(10.0**-power for power in range(1, 13))
TRANSFORMS: Final = ("linear", "logit")


def nash_average(payoff: ArrayLike, transform: str = "linear", clip: float = 1e-3) -> tuple[Floats, Floats]:
    """The maximum-entropy Nash distribution over players, and each player's skill A p against it.

    `payoff` holds win rates w (or is antisymmetric already). A is 2w - 1 for `linear`; for `logit` it is the
    log-odds of w, kept `clip` away from 0 and 1.
    """
    one_of(transform, TRANSFORMS, "transform")
    game = margins(payoff)
    if transform == "logit":
        if np.abs(game).max(initial=0.0) > 1:
            raise InvalidInput("logit takes win rates between 0 and 1")
        rates = np.clip((1 + game) / 2, strictly_between(clip, 0, 0.5, "clip"), 1 - clip)
        game = np.log(rates) - np.log1p(-rates)
        game = (game - game.T) / 2
    distribution = max_entropy_nash(game)
    return distribution, np.asarray(game @ distribution)


def max_entropy_nash(game: ArrayLike) -> Floats:
    """The equilibrium of most entropy of an antisymmetric game: unique, and the same under any renaming."""
    matrix = margins(game)
    if not len(matrix):
        return np.zeros(0)
    scale = np.abs(matrix).max()
    if scale == 0:
        return np.full(len(matrix), 1 / len(matrix))
    matrix = matrix / scale
    start, support = _interior_equilibrium(matrix)
    answer = np.zeros(len(matrix))
    answer[support] = _spread(matrix[:, support], support, start[support])
    return np.asarray(answer / answer.sum())


def nash_conv(
    row_payoff: ArrayLike, row: ArrayLike, column: ArrayLike, column_payoff: ArrayLike | None = None
) -> float:
    """What both players of a matrix game could gain by best responses, summed; zero-sum unless told."""
    first = finite_array(row_payoff, "row_payoff", dimensions=2)
    second = -first if column_payoff is None else finite_array(column_payoff, "column_payoff", dimensions=2)
    x, y = _distribution(row, "row"), _distribution(column, "column")
    if first.shape != (x.size, y.size) or second.shape != first.shape:
        raise InvalidInput(f"payoffs of shape {first.shape} do not fit strategies of {x.size} and {y.size}")
    gain = (first @ y).max() - x @ first @ y
    return float(gain + (x @ second).max() - x @ second @ y)


def exploitability(payoff: ArrayLike, strategy: ArrayLike) -> float:
    """NashConv per player of one strategy against itself in a game of win rates (in margins, 2w - 1)."""
    game = margins(payoff)
    return nash_conv(game, strategy, strategy) / 2


def _distribution(values: ArrayLike, what: str) -> Floats:
    chances = finite_array(values, what, dimensions=1)
    for chance in chances.tolist():
        between(chance, 0, 1 + 1e-9, f"a probability of {what}")
    if abs(chances.sum() - 1) > 1e-6:
        raise InvalidInput(f"{what} must sum to 1, got {chances.sum()}")
    return chances


def _interior_equilibrium(game: Floats) -> tuple[Floats, np.ndarray]:
    """An equilibrium with every player that any equilibrium uses, and who they are.

    For an antisymmetric A there is an x >= 0 with s = -A x >= 0 and x + s > 0 everywhere (Tucker): scaled
    up, one with x + s >= 1. Then the players of x, and no others, occur in equilibria.
    """
    n = len(game)
    # columns x, t; rows: A x <= 0 and t <= x - A x
    constraints = np.block([[game, np.zeros((n, n))], [game - np.eye(n), np.eye(n)]])
    bounds = [(0, None)] * n + [(0, 1)] * n
    found = linprog(
        np.concatenate([np.zeros(n), -np.ones(n)]),
        A_ub=constraints,
        b_ub=np.zeros(2 * n),
        bounds=bounds,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.x is None:
        raise NotConverged(f"the equilibrium's linear program failed: {found.message}")
    weights = found.x[:n]
    support = np.flatnonzero(weights > -game @ weights)
    return weights / weights[support].sum(), support


def _spread(columns: Floats, support: np.ndarray, start: Floats) -> Floats:
    """From an equilibrium inside the set of them to the one of most entropy, along the set.

    Players of the support must stay even against it; the others must not gain, which a barrier keeps.
    """
    inside = columns[support]
    outside = np.delete(columns, support, axis=0)
    even = np.vstack([inside, np.ones(support.size)])
    target = np.zeros(len(even))
    target[-1] = 1
    # the linear program leaves 1e-10: put the start exactly onto the set
    now = start + np.linalg.lstsq(even, target - even @ start, rcond=None)[0]
    directions = null_space(even, rcond=1e-9)
    if not directions.size:
        return np.asarray(np.maximum(now, 0))
    # rows that the linear program left at zero slack do not vary along the set
    outside = outside[(outside @ now) < -1e-9]
    for barrier in BARRIERS:
        now = _centre(now, directions, outside, barrier if outside.size else 0.0)
    return np.asarray(now)


def _centre(now: Floats, directions: Floats, outside: Floats, barrier: float) -> Floats:
    """Newton's method for sum p ln p - barrier * sum ln(-G p) over p = now + Z y."""

    def value(point: Floats) -> float:
        slack = -outside @ point
        if point.min() <= 0 or (slack.size and slack.min() <= 0):
            return np.inf
        return float(point @ np.log(point) - barrier * np.log(slack).sum())

    for _ in range(100):
        slack = -outside @ now
        gradient = directions.T @ (np.log(now) + 1 + barrier * outside.T @ (1 / slack))
        pull = outside / slack[:, None]
        curvature = directions.T @ ((1 / now)[:, None] * directions)
        curvature += barrier * (pull @ directions).T @ (pull @ directions)
        step = -directions @ np.linalg.solve(curvature, gradient)
        decrement = -float(gradient @ (directions.T @ step))
        if decrement < 1e-22:
            return now
        length, before = 1.0, value(now)
        while length > 1e-12 and not value(now + length * step) <= before - 0.1 * length * decrement:
            length /= 2
        if length <= 1e-12:
            return now
        now = now + length * step
    return now
