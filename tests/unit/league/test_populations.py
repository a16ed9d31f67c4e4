"""Populations: who copies whom, the test before a copy, and the hyperparameters after it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from league.errors import InvalidInput
from league.payoff.returns import Returns
from league.populations.exploration import explore, first_values
from league.populations.measures import WinDrawLoss, return_scores, win_rate_scores
from league.populations.rules import ExploitRule, Exploration, Method, ScoreOf
from league.populations.selection import COPY, KEEP, Score, Standings, decide_copy
from league.types import Decision, DecisionKind, PlayerId

TRUNCATION = ExploitRule()
TOURNAMENT = ExploitRule(method=Method.BINARY_TOURNAMENT)


def score(name: str, value: float, error: float = 1.0, games: int = 100, **more: Any) -> Score:
    return Score(member=PlayerId(name), name=name, value=value, error=error, games=games, **more)


def standings(*values: float, error: float = 1.0, **more: Any) -> Standings:
    """Members a, b, c, ... with these scores."""
    return Standings(
        scores=tuple(score(chr(97 + place), value, error) for place, value in enumerate(values)),
        of=ScoreOf.RATING,
        **more,
    )


def decide(found: Standings, member: str, rule: ExploitRule = TRUNCATION, seed: int = 0) -> Decision:
    return decide_copy(rule, found, member=PlayerId(member), seed=seed)


def test_the_lowest_quarter_copies_the_highest() -> None:
    found = standings(0, 10, 20, 30, 40, 50, 60, 70)
    assert [decide(found, name).verdict for name in "abcdefgh"] == [COPY, COPY, KEEP, KEEP, KEEP, KEEP, KEEP, KEEP]
    donors = {decide(found, "a", seed=seed).evidence["donor"] for seed in range(30)}
    assert donors == {"g", "h"}
    assert decide(found, "c").reason == "it is number 6 of 8, not among the lowest 2"


def test_the_p_value_of_a_normal_test_by_hand() -> None:
    # z = 4 / sqrt(1 + 1) = 2.8284; its upper tail is 0.0023389; of three members the donor is one of two
    found = decide(standings(0, 2, 4), "a")
    assert found.verdict == COPY
    assert found.evidence["p_value"] == pytest.approx(2 * 0.0023388674905235894)
    assert found.evidence["error"] == pytest.approx(math.sqrt(2))
    assert found.evidence["comparisons"] == 2


def test_a_tournament_looks_at_one_random_other_and_needs_no_correction() -> None:
    found = decide(standings(0, 4), "a", TOURNAMENT)
    assert found.evidence["p_value"] == pytest.approx(0.0023388674905235894)
    assert found.verdict == COPY
    assert decide(standings(0, 4), "b", TOURNAMENT).verdict == KEEP
    met = {decide(standings(0, 1, 2, 3), "b", TOURNAMENT, seed).evidence["donor"] for seed in range(40)}
    assert met == {"a", "c", "d"}


def test_welch_by_hand() -> None:
    # errors 1 and 2 of 5 and 10 games: freedom (1 + 4)^2 / (1 / 4 + 16 / 9) = 12.3288; t = 5 / sqrt(5) = 2.23607
    own, donor = score("a", 0, 1.0, 5, small_sample=True), score("b", 5, 2.0, 10, small_sample=True)
    found = decide(Standings(scores=(own, donor), of=ScoreOf.RETURN), "a")
    assert found.evidence["p_value"] == pytest.approx(0.02222, abs=1e-4)


def test_a_difference_that_may_be_chance_is_not_copied() -> None:
    found = decide(standings(0, 0.5, 1), "a")
    assert found.verdict == KEEP
    assert "may be chance" in found.reason
    assert found.evidence["donor"] == "c"


def test_errors_of_differences_replace_those_of_independent_scores() -> None:
    close = {frozenset((PlayerId("a"), PlayerId("b"))): 0.1}
    assert decide(standings(0, 1), "a").verdict == KEEP
    assert decide(standings(0, 1, errors=close), "a").verdict == COPY


def test_nothing_is_copied_without_scores() -> None:
    assert decide(standings(), "a").reason == "it has not played enough games to be compared"
    assert decide(standings(1), "a").reason == "no other member has been measured yet"
    assert decide(standings(1, 2), "z").verdict == KEEP


def test_scores_without_spread_are_certain() -> None:
    assert decide(standings(1, 2, error=0.0), "a").evidence["p_value"] == 0.0
    assert decide(standings(1, 1, error=0.0), "a").verdict == KEEP


@pytest.mark.parametrize("method", list(Method))
def test_noise_is_copied_no_more_often_than_the_level_says(method: Method) -> None:
    rng, rule = np.random.default_rng(5), ExploitRule(method=method, level=0.05, quantile=0.25)
    decisions = [
        decide(standings(*rng.normal(size=6).tolist()), name, rule, seed=int(rng.integers(2**32)))
        for _ in range(400)
        for name in "abcdef"
    ]
    copies = sum(decision.verdict == COPY for decision in decisions)
    assert copies / len(decisions) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(decisions))


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12),
    error=st.floats(0, 1e6),
    quantile=st.floats(0.01, 0.5),
    method=st.sampled_from(list(Method)),
    seed=st.integers(0, 2**53),
)
def test_a_copy_is_always_from_a_better_member(
    values: list[float], error: float, quantile: float, method: Method, seed: int
) -> None:
    found = standings(*values, error=error)
    by_name = {each.name: each for each in found.scores}
    for name, own in by_name.items():
        decision = decide(found, name, ExploitRule(method=method, quantile=quantile), seed)
        assert decision == decide(found, name, ExploitRule(method=method, quantile=quantile), seed)
        assert decision.kind is DecisionKind.POPULATION
        if decision.verdict == COPY:
            assert by_name[decision.evidence["donor"]].value > own.value
            assert 0 <= decision.evidence["p_value"] < 0.05


@pytest.mark.parametrize(
    "wrong",
    [{"quantile": 0.0}, {"quantile": 0.6}, {"level": 0.0}, {"level": 1.0}],
)
def test_rules_refuse_what_makes_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ExploitRule(**wrong)


def test_explorations_refuse_what_makes_no_sense() -> None:
    for wrong in ({}, {"perturb": (0.0,)}, {"resample": (2.0, 1.0)}, {"perturb": (1.1,), "initial": (1.0, 1.0)}):
        with pytest.raises(InvalidInput):
            Exploration(**wrong)


def test_perturbing_multiplies_by_each_factor_equally_often() -> None:
    rules = {"rate": Exploration(perturb=(0.8, 1.25))}
    after = [explore(rules, {"rate": 0.01}, seed)["rate"].after for seed in range(400)]
    assert sorted(set(after)) == pytest.approx([0.008, 0.0125])
    assert 160 < sum(value < 0.01 for value in after) < 240


def test_resampling_is_uniform_on_a_logarithmic_scale() -> None:
    rules = {"rate": Exploration(resample=(1e-4, 1e-1))}
    drawn = [explore(rules, {"rate": 5.0}, seed)["rate"].after for seed in range(600)]
    assert all(1e-4 <= value <= 1e-1 for value in drawn)
    decades = np.histogram(np.log10(drawn), bins=[-4, -3, -2, -1])[0]
    assert all(150 < count < 250 for count in decades)


def test_a_range_that_holds_zero_is_uniform_on_a_linear_scale() -> None:
    drawn = [explore({"x": Exploration(resample=(0.0, 1.0))}, {"x": 5.0}, seed)["x"].after for seed in range(300)]
    assert np.mean(drawn) == pytest.approx(0.5, abs=0.06)


def test_a_share_of_copies_is_drawn_anew_where_both_are_given() -> None:
    rules = {"x": Exploration(perturb=(1.1,), resample=(1.0, 2.0), resample_probability=0.25)}
    how = [explore(rules, {"x": 9.0}, seed)["x"].how for seed in range(400)]
    assert 70 < how.count("resampled") < 130  # type: ignore[arg-type]


@given(
    value=st.floats(1e-6, 1e6),
    factors=st.lists(st.floats(0.01, 100), min_size=1, max_size=4),
    seed=st.integers(0, 2**53),
    whole=st.booleans(),
)
def test_values_stay_within_their_limits(value: float, factors: list[float], seed: int, whole: bool) -> None:
    rules = {
        name: Exploration(perturb=tuple(factors), resample=(2.0, 3.0), low=1.0, high=8.0, whole=whole)
        for name in ("b", "a")
    }
    changes = explore(rules, {"a": value, "b": value}, seed)
    assert all(1 <= change.after <= 8 for change in changes.values())
    assert all(isinstance(change.after, int) for change in changes.values()) or not whole
    assert changes == explore(dict(reversed(rules.items())), {"b": value, "a": value}, seed)


@given(size=st.integers(2, 40), seed=st.integers(0, 2**53))
def test_first_values_cover_their_range(size: int, seed: int) -> None:
    rules = {"rate": Exploration(perturb=(0.8,), initial=(1e-5, 1e-2)), "fixed": Exploration(perturb=(1.1,))}
    drawn = first_values(rules, size, seed)
    assert all(own.keys() == {"rate"} for own in drawn)
    # one in each of as many equal parts of the three decades
    parts = sorted(int((math.log10(own["rate"]) + 5) / 3 * size) for own in drawn)
    assert parts == list(range(size))


def test_returns_are_scores_with_the_error_of_their_mean() -> None:
    a, b, few = PlayerId("a"), PlayerId("b"), PlayerId("few")
    played = {a: Returns().plus([1, 2, 3, 4, 5]), b: Returns().plus([9] * 10), few: Returns().plus([7])}
    found = return_scores(played, {a: "a", b: "b", few: "few"}, min_games=2)
    # deviations 10, 5 games: sqrt(10 / 4 / 5)
    assert [(each.name, each.value, each.error) for each in found] == [
        ("a", 3.0, pytest.approx(0.70711, abs=1e-5)),
        ("b", 9.0, 0.0),
    ]


def test_win_rates_are_compared_over_opponents_that_all_members_met() -> None:
    a, b, shared, harder = (PlayerId(name) for name in ("a", "b", "shared", "harder"))
    played = {
        a: {shared: WinDrawLoss(6, 2, 2), harder: WinDrawLoss(0, 0, 100)},
        b: {shared: WinDrawLoss(4, 0, 6), PlayerId("easy"): WinDrawLoss(100, 0, 0)},
        PlayerId("new"): {},
    }
    found, common = win_rate_scores(played, {a: "a", b: "b"}, min_games=10)
    assert common == [shared]
    assert [(each.name, each.value, each.games) for each in found] == [("a", 0.7, 10), ("b", 0.4, 10)]
    assert win_rate_scores(played, {a: "a", b: "b"}, min_games=11) == ([], [])


@given(wins=st.integers(0, 500), draws=st.integers(0, 500), losses=st.integers(0, 500))
def test_a_win_rate_is_never_certain(wins: int, draws: int, losses: int) -> None:
    results = WinDrawLoss(wins, draws, losses)
    assert results.games == 0 or 0 < results.variance <= 0.25
