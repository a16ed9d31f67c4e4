"""Gates: golden values, exact fits, real error rates by simulation, forecasts, alpha spending."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from league.errors import InvalidInput
from league.gates import (
    Sprt,
    SprtStatus,
    alpha_for_candidate,
    elo_of_score,
    forecast,
    log_likelihood_ratio,
    pair_distribution,
    score_of_elo,
)
from league.gates.fitting import fit_ratio

counts = st.one_of(st.integers(0, 300), st.sampled_from([0, 0, 1, 10**9, 2**62]))
GOLDEN = (39, 8843, 26675, 9240, 44)
CENTRED = np.array([0, 0.25, 0.5, 0.75, 1]) - 0.5


def test_the_golden_pentanomial() -> None:
    assert log_likelihood_ratio(GOLDEN, 0.5, 2.5, model="normalized") == pytest.approx(2.94168, abs=5e-6)


@pytest.mark.parametrize(("wins", "losses"), [(70, 40), (5, 90), (1000, 1000)])
def test_without_draws_the_trinomial_is_bernoulli(wins: int, losses: int) -> None:
    s0, s1 = score_of_elo(-20), score_of_elo(50)
    expected = wins * math.log(s1 / s0) + losses * math.log((1 - s1) / (1 - s0))
    assert log_likelihood_ratio((losses, 0, wins), -20, 50) == pytest.approx(expected, abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.tuples(*[counts] * 3), st.tuples(*[counts] * 5)), st.sampled_from(["logistic", "normalized"]))
def test_ratios_are_finite_and_antisymmetric(seen: tuple[int, ...], model: str) -> None:
    llr = log_likelihood_ratio(seen, 0, 35, model)
    assert math.isfinite(llr)
    assert log_likelihood_ratio(seen, 35, 0, model) == pytest.approx(-llr)
    mirrored = log_likelihood_ratio(seen[::-1], 0, -35, model)
    assert mirrored == pytest.approx(llr, rel=1e-6, abs=1e-6 * max(1, sum(seen) * 1e-6))


def test_no_games_say_nothing() -> None:
    assert log_likelihood_ratio((0, 0, 0, 0, 0), 0, 35) == 0


@pytest.mark.parametrize("seed", range(6))
def test_the_normalized_fit_is_the_likeliest_of_its_ratio(seed: int) -> None:
    """Against a general optimiser, for lopsided counts, where sigma from the sample would be wrong."""
    rng = np.random.default_rng(seed)
    seen = rng.integers(0, 60, 5) * rng.integers(0, 2, 5) + 0.001
    observed = seen / seen.sum()
    ratio = float(rng.normal(0, 0.5))
    fit = fit_ratio(observed, CENTRED, ratio)
    mean = fit @ CENTRED
    assert mean / math.sqrt(fit @ CENTRED**2 - mean**2) == pytest.approx(ratio, abs=1e-7)

    def condition(q: np.ndarray) -> float:
        return float(q @ CENTRED - ratio * math.sqrt(max(q @ CENTRED**2 - (q @ CENTRED) ** 2, 1e-18)))

    best = -math.inf
    for _ in range(6):
        found = minimize(
            lambda q: -observed @ np.log(np.maximum(q, 1e-300)),
            rng.dirichlet(np.ones(5)),
            method="SLSQP",
            bounds=[(1e-12, 1)] * 5,
            constraints=[{"type": "eq", "fun": lambda q: q.sum() - 1}, {"type": "eq", "fun": condition}],
            options={"maxiter": 1000, "ftol": 1e-15},
        )
        if abs(found.x.sum() - 1) < 1e-9 and abs(condition(found.x)) < 1e-9:
            best = max(best, -found.fun)
    assert observed @ np.log(fit) >= best - 1e-7


@pytest.mark.parametrize("bad", [(1, 2), (1, 2, 3, 4), (1, -1, 0), (1, math.nan, 0), (0.5, 0, 0)])
def test_bad_counts_are_refused(bad: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match="count"):
        log_likelihood_ratio(bad, 0, 35)  # type: ignore[arg-type]


def test_bad_tests_are_refused() -> None:
    with pytest.raises(InvalidInput, match="normalized"):
        log_likelihood_ratio((1, 1, 1), 0, 35, model="bayes")
    for bad in ({"elo0": 35, "elo1": 0}, {"alpha": 0}, {"beta": 0.7}, {"max_pairs": 0}, {"elo1": 9000}):
        with pytest.raises(InvalidInput):
            Sprt(**bad)  # type: ignore[arg-type]


def test_elo_and_score_are_inverse() -> None:
    assert elo_of_score(score_of_elo(123.4)) == pytest.approx(123.4)
    assert score_of_elo(0) == 0.5


def run(test: Sprt, pairs: np.ndarray, batch: int, rng: np.random.Generator) -> SprtStatus:
    total = np.zeros(5, dtype=int)
    while True:
        total += rng.multinomial(batch, pairs)
        verdict = test.judge(total.tolist())
        if verdict.status != SprtStatus.RUNNING:
            return verdict.status


@pytest.mark.parametrize(("elo", "wrong"), [(0.0, SprtStatus.PASSED), (80.0, SprtStatus.FAILED)])
def test_real_error_rates_keep_to_alpha_and_beta(elo: float, wrong: SprtStatus) -> None:
    test = Sprt(elo0=0, elo1=80, alpha=0.05, beta=0.05)
    pairs = pair_distribution(elo, draw_rate=0.3)
    rng = np.random.default_rng(17)
    runs = 800
    errors = sum(run(test, pairs, 4, rng) == wrong for _ in range(runs))
    # three standard errors above 5 %; and not idle: Wald's bounds are nearly sharp
    assert 0.02 < errors / runs < 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def test_forecasts_agree_with_simulation() -> None:
    test = Sprt(elo0=0, elo1=60, max_pairs=120)
    pairs = pair_distribution(40, draw_rate=0.3)
    predicted = forecast(test, pairs)
    assert predicted.passes + predicted.fails + predicted.inconclusive == pytest.approx(1, abs=1e-9)
    rng = np.random.default_rng(3)
    ends, lengths, runs = [], [], 300
    for _ in range(runs):
        total = np.zeros(5, dtype=int)
        verdict = test.judge(total.tolist())
        while verdict.status == SprtStatus.RUNNING:
            total += rng.multinomial(2, pairs)
            verdict = test.judge(total.tolist())
        ends.append(verdict.status)
        lengths.append(total.sum())
    assert ends.count(SprtStatus.PASSED) / runs == pytest.approx(predicted.passes, abs=0.08)
    assert np.mean(lengths) == pytest.approx(predicted.expected_pairs, rel=0.1)


def test_forecast_of_certain_candidates() -> None:
    test = Sprt()
    assert forecast(test, pair_distribution(400)).passes > 0.999
    assert forecast(test, pair_distribution(-400)).fails > 0.999
    null = forecast(test, pair_distribution(0, 0.3))
    assert 0.03 < null.passes < 0.05 and null.expected_games == 2 * null.expected_pairs
    with pytest.raises(InvalidInput, match="five"):
        forecast(test, [0.5, 0.5])


def test_verdicts_say_what_they_rest_on() -> None:
    test = Sprt(max_pairs=50)
    assert test.bounds == pytest.approx((math.log(0.05 / 0.95), math.log(0.95 / 0.05)))
    assert test.judge((0, 0, 0, 0, 0)).status == SprtStatus.RUNNING
    passed = test.judge((0, 0, 5, 10, 30))
    assert passed.status == SprtStatus.PASSED and passed.llr >= passed.upper
    assert passed.games == 90 and passed.score == pytest.approx(0.8888889)
    assert "raw" in passed.estimate
    assert test.judge((30, 10, 5, 0, 0)).status == SprtStatus.FAILED
    assert test.judge((1, 12, 24, 12, 1)).status == SprtStatus.INCONCLUSIVE


def test_an_operators_stop_is_never_a_pass() -> None:
    test = Sprt()
    assert test.judge((0, 0, 0, 0, 500), stopped_by_operator=True).status == SprtStatus.INVALID
    assert test.judge_batches([(0, 0, 1, 0, 0)], stopped_by_operator=True).status == SprtStatus.INVALID


def test_the_first_bound_reached_decides_even_if_more_games_came_in() -> None:
    test = Sprt()
    batches = [(0, 0, 2, 5, 10), (0, 0, 2, 5, 20), (200, 0, 0, 0, 0)]
    verdict = test.judge_batches(batches)
    assert verdict.status == SprtStatus.PASSED and len(verdict.path) == 2
    assert verdict.path[-1] == pytest.approx(test.judge((0, 0, 4, 10, 30)).llr)
    assert test.judge_batches([]).status == SprtStatus.RUNNING


def test_alpha_spending_adds_up_to_alpha() -> None:
    spent = [alpha_for_candidate(0.05, number) for number in range(1, 20_001)]
    assert spent[0] == pytest.approx(0.05 * 6 / math.pi**2)
    assert sum(spent) < 0.05 and sum(spent) == pytest.approx(0.05, rel=1e-4)
    fourth = Sprt().for_candidate(4)
    assert fourth.alpha == spent[3] and fourth.bounds[1] > Sprt().bounds[1]
    with pytest.raises(InvalidInput, match="numbered from 1"):
        alpha_for_candidate(0.05, 0)
