"""Whether the best of a field is surely ahead of everyone else."""

from __future__ import annotations

import pytest

from league.errors import InvalidInput
from league.ratings import bradley_terry
from league.tournaments.lead import lead_of


def test_a_clear_leader_leads_even_the_nearest() -> None:
    tallies = {("a", "b"): (80, 0, 20), ("a", "c"): (90, 0, 10), ("b", "c"): (60, 0, 40)}
    lead = lead_of(bradley_terry("abc", tallies))
    assert (lead.leader, lead.rival, lead.sure) == ("a", "b", True)
    assert 0 < lead.low < lead.elo < lead.high


def test_the_rival_is_whom_the_interval_is_least_sure_about_not_who_is_second() -> None:
    tallies = {("a", "b"): (6_000, 0, 4_000), ("a", "c"): (2, 0, 1)}
    lead = lead_of(bradley_terry("abc", tallies))
    assert lead.leader == "a" and lead.rival == "c" and not lead.sure


def test_a_higher_level_asks_for_more() -> None:
    ratings = bradley_terry("ab", {("a", "b"): (60, 0, 40)})
    assert lead_of(ratings, 0.9).sure and not lead_of(ratings, 0.999).sure


def test_equals_have_no_leader_to_be_sure_of() -> None:
    assert not lead_of(bradley_terry("ab", {("a", "b"): (10, 5, 10)})).sure
    assert not lead_of(bradley_terry("abc", {})).sure, "nobody has played"


def test_a_field_of_one_has_no_lead() -> None:
    with pytest.raises(InvalidInput, match="two or more"):
        lead_of(bradley_terry("a", {}))
