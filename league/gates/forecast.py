"""Forecast of a planned SPRT: its expected length and the probabilities of its outcomes at a given true strength."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array

from league.errors import InvalidInput
from league.gates.likelihood_ratio import fitted, score_of_elo
from league.gates.sprt import Sprt
from league.validation import Floats, between, finite_array

CELLS: Final = 2_000
SETTLED: Final = 1e-12


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """Probabilities of the outcomes, and the expected number of pairs."""

    passes: float
    fails: float
    inconclusive: float
    expected_pairs: float

    @property
    def expected_games(self) -> float:
        return 2 * self.expected_pairs


def pair_distribution(elo: float, draw_rate: float = 0.0) -> Floats:
    """Probabilities of a pair scoring 0, 1/4, 1/2, 3/4, 1 at a true Elo, the two games being independent.

    `draw_rate` is the draw rate of even players; it shrinks with the expected score of the weaker player.
    """
    score = score_of_elo(elo)
    draws = between(draw_rate, 0, 1, "draw_rate") * 2 * min(score, 1 - score)
    game = np.array([1 - score - draws / 2, draws, score - draws / 2])
    return np.asarray(np.convolve(game, game))


def forecast(test: Sprt, pair_probabilities: ArrayLike) -> Forecast:
    """Forecast the test for pairs of these probabilities, as a random walk on a fine grid.

    Each step is the log-likelihood ratio of one pair under the fitted hypotheses. Overshoot of the bounds and the
    limit on pairs are included, unlike in formulas for Brownian motion.
    """
    chances = finite_array(pair_probabilities, "pair_probabilities", dimensions=1)
    if chances.shape != (5,) or (chances < 0).any() or abs(chances.sum() - 1) > 1e-9:
        raise InvalidInput("pair_probabilities must be five probabilities that sum to 1")
    filled = np.maximum(chances, 1e-9)
    filled /= filled.sum()
    steps = np.log(fitted(filled, test.elo1, test.model)) - np.log(fitted(filled, test.elo0, test.model))
    moves, to_pass, to_fail, start = _walk(steps, chances, *test.bounds)
    passes = fails = expected = 0.0
    state = start
    for _ in range(test.max_pairs):
        running = float(state.sum())
        if running < SETTLED:
            break
        expected += running
        passes += float(to_pass @ state)
        fails += float(to_fail @ state)
        state = moves @ state
    return Forecast(passes=passes, fails=fails, inconclusive=float(state.sum()), expected_pairs=expected)


def _walk(steps: Floats, chances: Floats, lower: float, upper: float) -> tuple[csr_array, Floats, Floats, Floats]:
    """The transition matrix of the grid, each cell's probabilities of passing and of failing, and the start."""
    grid = np.linspace(lower, upper, CELLS + 1)[:-1] + (upper - lower) / CELLS / 2
    width = grid[1] - grid[0]
    rows, columns, values = [], [], []
    to_pass, to_fail = np.zeros(CELLS), np.zeros(CELLS)
    for step, chance in zip(steps.tolist(), chances.tolist(), strict=True):
        whole = math.floor(step / width)
        # a step between two cells is split so that its mean is kept
        for shift, part in ((whole, 1 + whole - step / width), (whole + 1, step / width - whole)):
            target = np.arange(CELLS) + shift
            to_pass[target >= CELLS] += chance * part
            to_fail[target < 0] += chance * part
            inside = np.flatnonzero((target >= 0) & (target < CELLS))
            rows.append(target[inside])
            columns.append(inside)
            values.append(np.full(inside.size, chance * part))
    moves = coo_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(CELLS, CELLS)
    ).tocsr()
    start = np.zeros(CELLS)
    place = -grid[0] / width
    whole = math.floor(place)
    start[whole], start[whole + 1] = 1 + whole - place, place - whole
    return moves, to_pass, to_fail, start
