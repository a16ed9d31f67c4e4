"""The exact generalised log-likelihood ratio of trinomial (single games) and pentanomial (pairs) counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from league.errors import InvalidInput
from league.gates.fitting import fit_mean, fit_ratio
from league.validation import Floats, finite, one_of, whole_count

MODELS: Final = ("logistic", "normalized")

EMPTY_CELL: Final = 1e-3
"""Pseudo-count of an outcome that never occurred, so that no hypothesis is impossible."""

MOST_ELO: Final = 4_000.0
"""At larger Elo differences a score cannot be distinguished from 0 or 1."""

SCORES: Final[dict[int, Floats]] = {3: np.array([0, 0.5, 1]), 5: np.array([0, 0.25, 0.5, 0.75, 1])}
"""What each outcome scores: of a game (loss, draw, win) or of a pair of games with seats swapped."""

GAMES: Final[dict[int, int]] = {3: 1, 5: 2}


def score_of_elo(elo: float) -> float:
    """L(elo) = 1 / (1 + 10^(-elo/400))."""
    if not abs(finite(elo, "elo")) <= MOST_ELO:
        raise InvalidInput(f"elo must lie between -{MOST_ELO:g} and {MOST_ELO:g}, got {elo!r}")
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of_score(score: float) -> float:
    """The Elo difference of an expected score, the inverse of `score_of_elo`."""
    if not 0 < finite(score, "score") < 1:
        raise InvalidInput(f"score must lie strictly between 0 and 1, got {score!r}")
    return 400 * math.log10(score / (1 - score))


def log_likelihood_ratio(counts: Sequence[int] | ArrayLike, elo0: float, elo1: float, model: str = "logistic") -> float:
    """The log-likelihood of the counts under elo1 minus that under elo0, each at its best-fitting distribution.

    Three counts are losses, draws, wins; five are pairs by score 0, 1/4, 1/2, 3/4, 1. `logistic` fixes the
    mean score at L(elo); `normalized` fixes (mean - 1/2) / deviation of the fitted distribution.
    """
    one_of(model, MODELS, "model")
    seen = outcome_counts(counts)
    if not seen.sum():
        return 0.0
    filled = np.where(seen > 0, seen, EMPTY_CELL)
    observed = filled / filled.sum()
    null, other = (fitted(observed, elo, model) for elo in (elo0, elo1))
    return float(filled.sum() * (observed @ (np.log(other) - np.log(null))))


def fitted(observed: Floats, elo: float, model: str) -> Floats:
    """The maximum-likelihood distribution among those of this Elo."""
    scores = SCORES[observed.size]
    if model == "logistic":
        return fit_mean(observed, scores - score_of_elo(elo))
    if not abs(finite(elo, "elo")) <= MOST_ELO:
        raise InvalidInput(f"elo must lie between -{MOST_ELO:g} and {MOST_ELO:g}, got {elo!r}")
    # normalised Elo is (mean - 1/2) / deviation of one game * 800 / ln 10; a mean of k games deviates sqrt(k) less
    ratio = elo * math.log(10) / 800 * math.sqrt(GAMES[observed.size])
    return fit_ratio(observed, scores - 0.5, ratio)


def outcome_counts(counts: Sequence[int] | ArrayLike) -> Floats:
    """Three or five whole counts."""
    values = list(np.asarray(counts).tolist()) if not isinstance(counts, list | tuple) else list(counts)
    if len(values) not in SCORES:
        raise InvalidInput(f"counts must be 3 (loss, draw, win) or 5 (pairs by score), got {len(values)}")
    return np.array([whole_count(value, "a count of outcomes") for value in values], dtype=np.float64)
