"""PFSP weights: the formulas, and every degenerate input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from league.errors import InvalidInput
from league.matchmaking import WEIGHTINGS, pfsp

rates = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 1 - 1e-12])), max_size=30)


@given(rates, st.sampled_from(sorted(WEIGHTINGS)), st.floats(0, 50))
def test_always_a_distribution(win_rates: list[float], weighting: str, power: float) -> None:
    chances = pfsp(win_rates, weighting, power)
    assert chances.shape == (len(win_rates),)
    assert np.isfinite(chances).all() and (chances >= 0).all()
    if win_rates:
        assert chances.sum() == pytest.approx(1, abs=1e-12)


@given(rates, st.sampled_from(sorted(WEIGHTINGS)), st.randoms(use_true_random=False))
def test_the_order_of_opponents_only_permutes(win_rates: list[float], weighting: str, random) -> None:  # type: ignore[no-untyped-def]
    order = list(range(len(win_rates)))
    random.shuffle(order)
    permuted = pfsp([win_rates[i] for i in order], weighting)
    assert permuted == pytest.approx(pfsp(win_rates, weighting)[order], rel=1e-9)


@pytest.mark.parametrize(
    ("weighting", "expected"),
    [
        ("squared", [1.0, 0.25, 0.04]),
        ("variance", [0.0, 0.25, 0.16]),
        ("linear", [1.0, 0.5, 0.2]),
        ("linear_capped", [0.5, 0.5, 0.2]),
        ("uniform", [1, 1, 1]),
        ("hard", [1.0, 0.125, 0.008]),
    ],
)
def test_the_formulas(weighting: str, expected: list[float]) -> None:
    assert pfsp([0.0, 0.5, 0.8], weighting, power=3) == pytest.approx(np.array(expected) / sum(expected))


@pytest.mark.parametrize("weighting", sorted(WEIGHTINGS))
def test_all_beaten_is_uniform(weighting: str) -> None:
    assert pfsp([1.0] * 4, weighting) == pytest.approx([0.25] * 4)


def test_nobody_gives_an_empty_distribution() -> None:
    assert pfsp([]).shape == (0,)


@pytest.mark.parametrize("bad", [[float("nan")], [0.5, float("inf")], [-0.1], [1.1], [[0.5]], ["x"]])
def test_what_is_no_win_rate_is_refused(bad: list[object]) -> None:
    with pytest.raises(InvalidInput, match="win rates must"):
        pfsp(bad)  # type: ignore[arg-type]


def test_an_unknown_weighting_names_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="linear_capped"):
        pfsp([0.5], "cubic")
