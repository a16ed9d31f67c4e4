"""Nash averaging: the maximum-entropy equilibrium of the players' own game, and skill against it.

See docs/decisions/payoff-and-matchmaking.md.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import null_space

from league.errors import InvalidInput, NotConverged
from league.validation import Floats, between, finite_array, margins, one_of, strictly_between

Indices = NDArray[np.intp]

BARRIERS: Final = tuple(10.0**-power for power in range(1, 13))
TRANSFORMS: Final = ("linear", "logit")

EVEN: Final = 1e-6
"""A payoff this small relative to the largest counts as 0: neither data nor a solver can tell the two apart."""

NEAR_ENOUGH: Final = 1e-10
SMALLEST_VALUE: Final = 1e-16
CLEAR: Final = 1e4
"""The path is followed until, for every player, x_i and its slack differ by this factor: the smaller one vanishes."""
PATH_STEPS: Final = 300
RANK: Final = 1e-9
CENTRING: Final = 0.3
"""The factor by which each step lowers v: smaller factors make Newton's method converge badly."""


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
    """The maximum-entropy equilibrium of an antisymmetric game: unique, and independent of the order of players."""
    matrix = margins(game)
    if not len(matrix):
        return np.zeros(0)
    scale = np.abs(matrix).max()
    if scale == 0:
        return np.full(len(matrix), 1 / len(matrix))
    matrix = np.where(np.abs(matrix) < EVEN * scale, 0.0, matrix / scale)
    start, support = _interior_equilibrium(matrix)
    answer = np.zeros(len(matrix))
    answer[support] = _spread(matrix[:, support], support, start[support])
    # where rounding makes the support uncertain, the end of the path is the more reliable equilibrium
    for candidate in (answer, np.maximum(start, 0)):
        if candidate.sum() > 0 and (matrix @ candidate).max() < 10 * EVEN * candidate.sum():
            return np.asarray(candidate / candidate.sum())
    raise NotConverged("no equilibrium was found to within rounding")


def nash_conv(
    row_payoff: ArrayLike, row: ArrayLike, column: ArrayLike, column_payoff: ArrayLike | None = None
) -> float:
    """The sum of both players' gains by best responses; zero-sum unless `column_payoff` is given."""
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


def _interior_equilibrium(game: Floats) -> tuple[Floats, Indices]:
    """An equilibrium of maximal support, and that support.

    The central path of the game's linear program: x_i (v - (A x)_i) = v/n, whose solution sums to 1. It leads
    from the uniform mixture at a large v to the middle of the set of equilibria at v = 0, where either x_i or
    v - (A x)_i vanishes, and never both.
    """
    n = len(game)
    x = np.full(n, 1.0 / n)
    slack = 2.0 - game @ x
    for _ in range(PATH_STEPS):
        value = float(x @ slack)
        contrast = np.maximum(x / slack, slack / x).min()
        if value < SMALLEST_VALUE or (value < NEAR_ENOUGH and contrast > CLEAR):
            support = np.flatnonzero(x > slack)
            return np.asarray(x / x[support].sum()), support
        aim = value * CENTRING
        missing = aim - game @ x - slack
        # divided by x the equations' matrix is a positive diagonal minus an antisymmetric one: never singular
        step = np.linalg.solve(np.diag(slack / x) - game, aim / n / x - slack - missing)
        change = missing - game @ step
        length = min(1.0, 0.9 / max(float((-step / x).max()), float((-change / slack).max()), 1e-300))
        x, slack = x + length * step, slack + length * change
    raise NotConverged("the central path did not converge to an equilibrium")


def _spread(columns: Floats, support: Indices, start: Floats) -> Floats:
    """The maximum-entropy equilibrium, found from an interior point of the set of equilibria.

    Players of the support stay even against it; a barrier keeps the others from gaining.
    """
    inside = columns[support]
    outside = np.delete(columns, support, axis=0)
    even = np.vstack([inside, np.ones(support.size)])
    target = np.zeros(len(even))
    target[-1] = 1
    # project the start, which is near the set, onto it; relative to itself, so that it stays positive
    scaled = even * start
    now = start * (1 + np.linalg.lstsq(scaled, target - even @ start, rcond=RANK)[0])
    directions = start[:, None] * null_space(scaled, rcond=RANK)
    if not directions.size:
        return np.asarray(np.maximum(now, 0))
    outside = outside[(outside @ now) < -1e-12]
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
        step = -directions @ np.linalg.lstsq(curvature, gradient, rcond=None)[0]
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
