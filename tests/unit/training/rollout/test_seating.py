"""Seating: which tables each opponent gets."""

import numpy as np
import pytest

from workers.rollout.seating import LEARNER, block_sizes, seat


def test_blocks_are_as_even_as_can_be_whatever_the_tables() -> None:
    for tables in (1, 7, 64, 100, 127, 1009, 1024):
        sizes = block_sizes(tables)
        assert len(sizes) == min(tables, 64) and sizes.sum() == tables
        assert sizes.max() - sizes.min() == (tables % len(sizes) > 0)


@pytest.mark.parametrize("tables", [67, 127, 1009])
def test_a_prime_number_of_tables_seats_the_whole_mixture(tables: int) -> None:
    shares = [0.2, *([0.8 / 40] * 40)]
    sat = np.zeros(41)
    for seed in range(300):
        seating = seat(tables=tables, teams=(0, 1), shares=shares, rng=np.random.default_rng(seed))
        other = np.where(seating.owner[:, 0] == LEARNER, seating.owner[:, 1], seating.owner[:, 0])
        counts = np.bincount(other + 1, minlength=41)
        assert counts[0] == seating.self_play_tables
        assert (counts > 0).all()
        sat += counts
    np.testing.assert_allclose(sat / sat.sum(), shares, atol=0.002)


def test_a_larger_block_is_drawn_by_its_size_over_all_parts() -> None:
    # 65 tables of two parts: the first block of each has two tables, so the first opponent's share covers one of them
    shares = [0.0, 2 / 130, 128 / 130]
    parts = [
        seat(tables=65, teams=(0, 1), shares=shares, rng=np.random.default_rng(3), part=p, parts=2) for p in (0, 1)
    ]
    assert [part.blocks.count(0) for part in parts] == [1, 0]


def test_every_share_gets_its_tables_and_seats_take_turns() -> None:
    shares = [0.25, 0.5, 0.0, 0.25]
    seating = seat(tables=128, teams=(0, 1), shares=shares, rng=np.random.default_rng(0))
    assert seating.self_play_tables == 32
    assert [seating.blocks.count(number) for number in (LEARNER, 0, 1, 2)] == [16, 32, 0, 16]
    opposed = seating.owner[32:]
    assert ((opposed == LEARNER).sum(1) == 1).all()
    assert (opposed[:, 0] == LEARNER).mean() == 0.5


def test_small_shares_come_as_often_as_they_should_over_many_draws() -> None:
    shares = np.array([0.9, 0.001, 0.099])
    drawn = np.zeros(3)
    for seed in range(2000):
        seating = seat(tables=64, teams=(0, 1), shares=shares.tolist(), rng=np.random.default_rng(seed))
        drawn += np.bincount(np.array(seating.blocks) + 1, minlength=3)
    np.testing.assert_allclose(drawn / drawn.sum(), shares, atol=0.0006)


def test_the_parts_of_a_crew_share_one_draw() -> None:
    shares = [0.0, *([1 / 32] * 32)]
    parts = [
        seat(tables=16, teams=(0, 1), shares=shares, rng=np.random.default_rng(3), part=part, parts=2)
        for part in (0, 1)
    ]
    assert sorted(parts[0].blocks + parts[1].blocks) == list(range(32))
