"""Online Elo, openskill for n players and teams, and the list of cycles."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from league.errors import InvalidInput
from league.ratings import (
    LineupResult,
    Skill,
    TeamMatch,
    elo_expected,
    elo_online,
    lineup_skills,
    strongest_cycles,
    team_skills,
)


def test_elo_by_hand_and_labelled_live() -> None:
    live = elo_online([("a", "b", 1.0), ("a", "b", 0.5)], k=32, start=1000)
    change = 32 * (0.5 - 1 / (1 + 10 ** (-32 / 400)))
    assert live.ratings == pytest.approx({"a": 1016 + change, "b": 984 - change})
    assert "live" in live.label and live.games == 2
    assert elo_online([], ratings=live.ratings).ratings == live.ratings


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_expected_scores_are_finite_and_complementary(a: float, b: float) -> None:
    assert elo_expected(a, b) + elo_expected(b, a) == pytest.approx(1)


@pytest.mark.parametrize("game", [("a", "a", 1), ("a", "b", 2), ("a", "b", math.nan)])
def test_bad_elo_games_are_refused(game: tuple[str, str, float]) -> None:
    with pytest.raises(InvalidInput):
        elo_online([game])


def test_team_skills_rank_winners_above_losers() -> None:
    matches = [TeamMatch((("a", "b"), ("c", "f"), ("d", "e")), (1, 2, 3))] * 5
    skills = team_skills(matches)
    assert skills["a"].mu > skills["c"].mu > skills["d"].mu
    assert skills["a"] == skills["b"] and skills["a"].sigma < 25 / 3
    assert skills["a"].ordinal == pytest.approx(skills["a"].mu - 3 * skills["a"].sigma)
    resumed = team_skills(matches[3:], start=team_skills(matches[:3]))
    assert {name: (s.mu, s.sigma) for name, s in resumed.items()} == {
        name: (pytest.approx(s.mu), pytest.approx(s.sigma)) for name, s in skills.items()
    }


def test_a_draw_moves_equal_players_nowhere() -> None:
    skills = team_skills([TeamMatch((("a",), ("b",)), (1, 1))])
    assert skills["a"].mu == pytest.approx(skills["b"].mu)
    assert isinstance(skills["a"], Skill)


@pytest.mark.parametrize(
    ("teams", "places"),
    [((("a",),), (1,)), ((("a",), ("a",)), (1, 2)), ((("a",), ()), (1, 2)), ((("a",), ("b",)), (1,))],
)
def test_bad_matches_are_refused(teams: tuple[tuple[str, ...], ...], places: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput):
        TeamMatch(teams, places)


def test_the_strongest_cycle_comes_first_by_its_weakest_link() -> None:
    rates = np.full((5, 5), 0.5)
    for (a, b), rate in {(0, 1): 0.9, (1, 2): 0.6, (2, 0): 0.9, (1, 3): 0.7, (3, 0): 0.7}.items():
        rates[a, b], rates[b, a] = rate, 1 - rate
    cycles = strongest_cycles("vwxyz", rates)
    assert [(c.players, c.strength) for c in cycles] == [
        (("v", "w", "y"), pytest.approx(0.2)),
        (("v", "w", "x"), pytest.approx(0.1)),
    ]
    assert cycles[0].win_rates == pytest.approx((0.9, 0.7, 0.7))


@given(st.integers(0, 7), st.integers(0, 2**32 - 1), st.integers(0, 40))
def test_cycles_equal_a_plain_search(size: int, seed: int, limit: int) -> None:
    rates = np.random.default_rng(seed).random((size, size)).round(2)
    rates = (rates + 1 - rates.T) / 2
    found = strongest_cycles(range(size), rates, limit=limit)
    expected = sorted(
        (
            min(rates[a, b], rates[b, c], rates[c, a]) - 0.5
            for a, b, c in itertools.permutations(range(size), 3)
            if a < b and a < c and min(rates[a, b], rates[b, c], rates[c, a]) > 0.5
        ),
        reverse=True,
    )
    assert [c.strength for c in found] == pytest.approx(expected[:limit])
    assert len({c.players for c in found}) == len(found)


def test_no_cycles_in_a_chain_and_bad_input_refused() -> None:
    assert strongest_cycles("abc", [[0.5, 0.9, 0.9], [0.1, 0.5, 0.9], [0.1, 0.1, 0.5]]) == ()
    with pytest.raises(InvalidInput, match="names"):
        strongest_cycles("ab", [[0.5]])
    with pytest.raises(InvalidInput, match="finite"):
        strongest_cycles("a", [[math.nan]])


MIXED = ("main", "mate")


def result(wins: int, draws: int, losses: int) -> LineupResult:
    return LineupResult(lineup=MIXED, opponent="striker", wins=wins, draws=draws, losses=losses)


def test_a_line_up_is_rated_as_a_competitor_of_its_own() -> None:
    won, lost = (TeamMatch(((MIXED,), ("striker",)), places) for places in ((1, 2), (2, 1)))
    assert lineup_skills([result(2, 0, 1)]) == team_skills([won, lost, won]), "results are spread evenly"
    skills = lineup_skills([result(6, 2, 1)])
    assert set(skills) == {MIXED, "striker"} and skills[MIXED].mu > 25 > skills["striker"].mu


def test_a_large_sum_counts_as_ten_games_in_its_shares() -> None:
    assert lineup_skills([result(6000, 3000, 1000)]) == lineup_skills([result(6, 3, 1)])
    assert lineup_skills([result(58, 29, 13)]) == lineup_skills([result(6, 3, 1)]), "by the largest remainder"
    later = lineup_skills([result(1000, 0, 0), result(0, 0, 5)])
    assert later[MIXED].mu < lineup_skills([result(1000, 0, 0)])[MIXED].mu, "earlier thousands do not drown later games"


@pytest.mark.parametrize("wrong", [{"wins": -1}, {"opponent": MIXED}])
def test_results_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        LineupResult(**({"lineup": MIXED, "opponent": "striker", "wins": 1, "draws": 0, "losses": 0} | wrong))  # type: ignore[arg-type]
