"""Probes: intervals of responders' win rates, the best of several, and the comparison of two versions."""

from __future__ import annotations

import numpy as np
import pytest

from league.errors import InvalidInput
from league.probes import Games, best_responder, exploited


def games(wins: int, draws: int = 0, losses: int = 0, weight: float = 1.0) -> Games:
    return Games(weight=weight, wins=wins, draws=draws, losses=losses)


def test_more_games_narrow_the_interval_and_more_responders_widen_it() -> None:
    few, many = exploited([games(6, 0, 4)], responders=1), exploited([games(600, 0, 400)], responders=1)
    assert few.win_rate == many.win_rate == pytest.approx(0.6)
    assert few.low < many.low < 0.6 < many.high < few.high
    assert exploited([games(600, 0, 400)], responders=3).low < many.low
    assert (many.low, many.high) == (pytest.approx(0.5693, abs=1e-3), pytest.approx(0.6299, abs=1e-3))


def test_no_rate_is_certain() -> None:
    always = exploited([games(200)], responders=3)
    assert always.win_rate == 1.0 and always.high == 1.0 and 0.93 < always.low < 1.0


def test_a_mixture_is_weighted_by_its_shares() -> None:
    found = exploited([games(90, 0, 10, weight=0.25), games(10, 0, 90, weight=0.75)], responders=1)
    assert found.win_rate == pytest.approx(0.25 * 0.9 + 0.75 * 0.1)
    assert found.games == 200 and found.low < found.win_rate < found.high
    with pytest.raises(InvalidInput, match="add up to 1"):
        exploited([games(1, weight=0.5)], responders=1)
    with pytest.raises(InvalidInput, match="games against every part"):
        exploited([games(0)], responders=1)


def test_the_bound_of_the_best_of_three_equal_responders_is_rarely_too_high() -> None:
    rng = np.random.default_rng(1)
    too_high = 0
    for _ in range(1000):
        found = [exploited([games(won, 0, 200 - won)], responders=3) for won in rng.binomial(200, 0.5, size=3).tolist()]
        too_high += found[best_responder(found)].low > 0.5
    assert too_high <= 40, "one-sided, so about 25 of 1000"
