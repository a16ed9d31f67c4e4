"""The hash behind all randomness: recorded games replay only while it never changes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workers.games import seeding

WORDS = st.integers(0, 2**64 - 1)


def test_the_hash_is_splitmix64() -> None:
    # The first output of the published generator from the state 0.
    assert seeding.mix(0).tolist() == [0xE220A8397B1DCDAF]


def test_the_hash_never_changes() -> None:
    assert seeding.mix(1, 2, 3).tolist() == [15020427595393229491]
    assert seeding.game_seeds(np.array([7, 7], np.uint64), np.array([0, 1])).tolist() == [
        7,
        4414019431610648415,
    ]


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_arrays_and_integers_hash_alike(words: list[int]) -> None:
    assert int(seeding.mix(*[np.uint64(word) for word in words])[0]) == seeding.mix_ints(*words)


def test_draws_are_even() -> None:
    keys = seeding.mix(np.arange(60_000))
    counts = np.bincount(seeding.below(keys, 6), minlength=7)
    assert counts[6] == 0
    assert abs(counts[:6] - 10_000).max() < 6 * 100
    values = seeding.uniform(keys)
    assert 0 <= values.min() < 0.001
    assert 0.999 < values.max() < 1
