"""alpha-rank, Nash averaging, NashConv and replicator dynamics, against OpenSpiel; degenerate games."""

from __future__ import annotations

import math

import numpy as np
import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from open_spiel.python.algorithms import exploitability as spiel_exploitability
from open_spiel.python.algorithms import nash_averaging as spiel_nash
from open_spiel.python.algorithms import projected_replicator_dynamics as spiel_prd
from open_spiel.python.egt import alpharank as spiel_alpharank
from open_spiel.python.policy import TabularPolicy

from league.errors import InvalidInput
from league.matchmaking.meta_strategies import META_STRATEGIES, fictitious_play, projected_replicator
from league.ratings import alpha_rank, exploitability, max_entropy_nash, nash_average, nash_conv

ROCK_PAPER_SCISSORS = np.array([[0.5, 0, 1], [1, 0.5, 0], [0, 1, 0.5]])


def random_rates(seed: int, size: int) -> np.ndarray:
    rates = np.random.default_rng(seed).random((size, size))
    return (rates + 1 - rates.T) / 2


entry = st.sampled_from([0.0, 0.25, 0.5, 0.501, 0.75, 1.0])
games = st.integers(0, 6).flatmap(lambda n: st.lists(st.lists(entry, min_size=n, max_size=n), min_size=n, max_size=n))
rank_alphas = st.sampled_from([0.0, 1e-3, 1.0, 1e2, 1e6, math.inf])


@pytest.mark.parametrize("alpha", [0.01, 0.5, 2.0, 5.0])
@pytest.mark.parametrize("size", [2, 5, 9])
def test_alpha_rank_agrees_with_open_spiel(alpha: float, size: int) -> None:
    rates = random_rates(size, size)
    expected = spiel_alpharank.compute([rates], m=50, alpha=alpha, use_local_selection_model=False)[2]
    assert alpha_rank(rates, alpha=alpha, population=50) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("alpha", [0.5, 2.0])
@pytest.mark.parametrize("total", [0.0, 4.0, -1.5])
def test_alpha_rank_of_any_constant_sum_agrees_with_open_spiel(total: float, alpha: float) -> None:
    game = 2 * random_rates(7, 5) - 1 + total / 2
    expected = spiel_alpharank.compute([game], m=50, alpha=alpha, use_local_selection_model=False)[2]
    assert alpha_rank(game, alpha=alpha, population=50) == pytest.approx(expected, abs=1e-8)


def test_alpha_rank_takes_payoffs_as_they_are() -> None:
    game = [[0, 0.3, -0.2], [-0.3, 0, 0.4], [0.2, -0.4, 0]]
    assert alpha_rank(game, alpha=1) == pytest.approx([0.4443, 0.3110, 0.2447], abs=1e-4)
    assert alpha_rank([[2, 3], [1, 2]], alpha=1) == pytest.approx(alpha_rank([[0, 1], [-1, 0]], alpha=1))
    with pytest.raises(InvalidInput, match="same sum"):
        alpha_rank([[2, 3], [2, 2]], alpha=1)


def test_one_alpha_means_the_same_in_a_meta_game_of_returns_and_of_win_rates() -> None:
    rates = random_rates(11, 5)
    expected = alpha_rank(rates, alpha=3.0)
    for game in (rates, 2 * rates - 1):
        assert META_STRATEGIES["alpha_rank"](game, 3.0) == pytest.approx(expected)


@pytest.mark.parametrize("size", [3, 6])
def test_infinite_alpha_agrees_with_open_spiel(size: int) -> None:
    rates = random_rates(size + 100, size)
    expected = spiel_alpharank.compute(
        [rates], m=50, alpha=1.0, use_local_selection_model=False, use_inf_alpha=True, inf_alpha_eps=0.01
    )[2]
    assert alpha_rank(rates, alpha=math.inf, epsilon=0.01) == pytest.approx(expected, abs=1e-8)


@settings(max_examples=150)
@given(games, rank_alphas, st.sampled_from([2, 50, 10**6]))
def test_alpha_rank_is_always_a_distribution(rates: list[list[float]], alpha: float, population: int) -> None:
    ranks = alpha_rank(rates, alpha=alpha, population=population)
    assert np.isfinite(ranks).all() and (ranks >= 0).all()
    if rates:
        assert ranks.sum() == pytest.approx(1)
        order = np.arange(len(rates))[::-1]
        swapped = alpha_rank(np.array(rates)[np.ix_(order, order)], alpha=alpha, population=population)
        assert swapped == pytest.approx(ranks[order], abs=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 1e3, 1e9, math.inf])
def test_rock_paper_scissors_is_a_third_each(alpha: float) -> None:
    assert alpha_rank(ROCK_PAPER_SCISSORS, alpha=alpha) == pytest.approx([1 / 3] * 3)
    distribution, skill = nash_average(ROCK_PAPER_SCISSORS)
    assert distribution == pytest.approx([1 / 3] * 3) and skill == pytest.approx([0] * 3)


def test_alpha_beyond_all_reason_still_gives_a_distribution() -> None:
    assert alpha_rank(random_rates(1, 5), alpha=1e300).sum() == pytest.approx(1)


def test_alpha_rank_of_a_chain_is_the_strongest() -> None:
    rates = np.array([[0.5, 0.9, 0.9], [0.1, 0.5, 0.8], [0.1, 0.2, 0.5]])
    assert alpha_rank(rates, alpha=100) == pytest.approx([1, 0, 0])


def test_alpha_is_an_argument_without_a_default() -> None:
    with pytest.raises(TypeError):
        alpha_rank(ROCK_PAPER_SCISSORS)  # type: ignore[call-arg]
    for bad in (-1, math.nan, "high"):
        with pytest.raises(InvalidInput, match="alpha"):
            alpha_rank(ROCK_PAPER_SCISSORS, alpha=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(6))
def test_nash_averaging_agrees_with_open_spiel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 3 + seed
    matrix = np.round(rng.normal(size=(size, size)), 1 if seed % 2 else 8)
    game = matrix - matrix.T
    expected, score = spiel_nash.nash_averaging(pyspiel.create_matrix_game(game, -game))
    distribution, skill = nash_average(game)
    assert distribution == pytest.approx(expected.ravel(), abs=2e-4)
    assert skill == pytest.approx(score.ravel(), abs=2e-3)


def test_copies_share_what_one_had() -> None:
    """The point of Nash averaging: redundant players change nothing."""
    index = [0, 0, 1, 2]
    rates = ROCK_PAPER_SCISSORS[np.ix_(index, index)]
    assert nash_average(rates)[0] == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3])


def test_logit_and_linear_differ_only_in_the_game() -> None:
    rates = random_rates(4, 5)
    logits = np.log(rates / (1 - rates))
    distribution, skill = nash_average(rates, transform="logit")
    assert distribution == pytest.approx(max_entropy_nash(logits - np.diag(np.diag(logits))))
    assert skill.max() < 1e-5
    assert np.isfinite(nash_average([[0.5, 1], [0, 0.5]], transform="logit")[1]).all()


@settings(max_examples=150)
@given(games)
def test_nash_is_always_an_equilibrium_whatever_the_names(rates: list[list[float]]) -> None:
    distribution, skill = nash_average(rates)
    assert np.isfinite(distribution).all() and (distribution >= 0).all()
    if rates:
        assert distribution.sum() == pytest.approx(1)
        assert skill.max() < 1e-5
        order = np.arange(len(rates))[::-1]
        swapped = nash_average(np.array(rates)[np.ix_(order, order)])[0]
        assert swapped == pytest.approx(distribution[order], abs=1e-5)


@pytest.mark.parametrize("function", [lambda w: alpha_rank(w, alpha=1.0), nash_average])
@pytest.mark.parametrize("bad", [[[0.5, math.nan], [0.5, 0.5]], [[0.5, 1.2], [0.1, 0.5]], [[0.5, 0.5]], [0.5]])
def test_what_is_no_payoff_is_refused(function, bad) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidInput, match="payoff must"):
        function(bad)


@pytest.mark.parametrize("seed", range(3))
def test_nash_conv_agrees_with_open_spiel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, 3, 4))
    row, column = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))
    game = pyspiel.convert_to_turn_based(pyspiel.create_matrix_game(first, second))
    policy = TabularPolicy(game)
    for state, chances in ((0, row), (1, column)):
        policy.action_probability_array[state, :] = 0
        policy.action_probability_array[state, : len(chances)] = chances
    expected = spiel_exploitability.nash_conv(game, policy)
    assert nash_conv(first, row, column, second) == pytest.approx(expected)


def test_exploitability_is_nash_conv_per_player() -> None:
    assert exploitability(ROCK_PAPER_SCISSORS, [1, 0, 0]) == pytest.approx(1)
    assert exploitability(ROCK_PAPER_SCISSORS, [1 / 3] * 3) == pytest.approx(0)
    with pytest.raises(InvalidInput, match="sum to 1"):
        exploitability(ROCK_PAPER_SCISSORS, [1, 1, 0])


def test_projected_replicator_agrees_with_open_spiel() -> None:
    rates = random_rates(8, 4)
    game = rates - rates.T
    expected = spiel_prd.projected_replicator_dynamics([game, -game], prd_iterations=500, prd_dt=0.05, prd_gamma=1e-3)
    assert projected_replicator(rates, iterations=500, step=0.05, floor=1e-3) == pytest.approx(expected[0], abs=1e-9)


def test_fictitious_play_approaches_the_equilibrium() -> None:
    rates = random_rates(3, 6)
    assert exploitability(rates, fictitious_play(rates)) < 0.02
