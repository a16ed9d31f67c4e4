"""Sequential halving: how the visits of a search are shared among the considered actions."""

from __future__ import annotations

from collections import Counter

import pytest

from workers.search.halving import visit_sequence, visit_table


@pytest.mark.parametrize(("considered", "simulations"), [(1, 5), (2, 9), (4, 16), (7, 32), (16, 200), (16, 3)])
def test_every_visit_continues_an_action_that_has_had_the_visits_before(considered: int, simulations: int) -> None:
    sequence = visit_sequence(considered, simulations)
    counts = Counter(sequence)
    assert len(sequence) == simulations
    assert counts[0] == min(considered, simulations)
    assert all(counts[visits] <= counts[visits - 1] for visits in counts if visits)


def test_half_of_the_actions_get_most_of_the_visits() -> None:
    assert visit_sequence(4, 16) == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_the_table_holds_the_sequence_of_every_number_of_actions() -> None:
    table = visit_table(4, 16)
    assert table[:, 4].tolist() == visit_sequence(4, 16)
    assert table[:, 1].tolist() == list(range(16))
