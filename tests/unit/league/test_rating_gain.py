"""Rating gained per million steps, from two versions of one line."""

from __future__ import annotations

import pytest

from league.ratings.gain import compared_versions, rating_gain


def test_the_newest_is_compared_with_the_one_at_half_its_steps() -> None:
    assert compared_versions([0, 1_000, 4_900, 10_000, 9_000]) == (2, 3)
    assert compared_versions([8_000, 10_000]) == (0, 1)


def test_there_is_no_gain_without_two_versions_that_differ() -> None:
    assert compared_versions([]) is None
    assert compared_versions([5]) is None
    assert compared_versions([5, 5]) is None


def test_the_interval_is_that_of_the_difference() -> None:
    gain = rating_gain(difference=50, variance=100, steps=500_000)
    assert (gain.per_million, gain.low, gain.high) == (
        100,
        pytest.approx(60.8, abs=0.01),
        pytest.approx(139.2, abs=0.01),
    )
    assert gain.is_certain
    assert not rating_gain(difference=50, variance=10_000, steps=500_000).is_certain
    assert rating_gain(difference=-90, variance=100, steps=500_000).is_certain, "a loss is certain, too"


def test_without_a_variance_nothing_is_certain() -> None:
    gain = rating_gain(difference=50, variance=None, steps=500_000)
    assert (gain.per_million, gain.low, gain.high, gain.is_certain) == (100, None, None, False)
