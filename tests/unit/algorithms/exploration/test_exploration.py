"""Schedules and noises: pure functions of steps and draws."""

import math

import numpy as np
import pytest

from workers.algorithms.exploration.discrete import boltzmann, boltzmann_probabilities, epsilon_greedy, uniform
from workers.algorithms.exploration.noise import expand_draws, gaussian, ornstein_uhlenbeck, standard_normal
from workers.algorithms.exploration.schedules import scheduled

DRAWS = (np.arange(20_000, dtype=np.float32) + np.float32(0.5)) / np.float32(20_000)
"""Evenly spread draws: what is uniform in chance is exact in share."""


@pytest.mark.parametrize(("schedule", "half_way"), [("linear", 0.505), ("exponential", 0.1), ("cosine", 0.505)])
def test_schedules_go_from_start_to_end_and_stay(schedule: str, half_way: float) -> None:
    def at(steps: int) -> float:
        return scheduled(schedule, start=1.0, end=0.01, over=1000, steps=steps)

    assert at(0) == 1.0 and at(1000) == pytest.approx(0.01) and at(5000) == pytest.approx(0.01)
    assert at(500) == pytest.approx(half_way)
    rates = [at(steps) for steps in range(0, 1001, 50)]
    assert rates == sorted(rates, reverse=True)


def test_a_quarter_of_each_schedule() -> None:
    quarter = {
        name: scheduled(name, start=1.0, end=0.01, over=4, steps=1) for name in ("linear", "exponential", "cosine")
    }
    assert quarter["linear"] == pytest.approx(0.7525)
    assert quarter["exponential"] == pytest.approx(10**-0.5)
    assert quarter["cosine"] == pytest.approx(0.01 + 0.99 * 0.5 * (1 + math.sqrt(0.5)))


def test_what_a_schedule_refuses() -> None:
    with pytest.raises(ValueError, match="no schedule 'step'; allowed: linear, exponential, cosine"):
        scheduled("step", start=1.0, end=0.0, over=10, steps=1)
    with pytest.raises(ValueError, match="rates above 0"):
        scheduled("exponential", start=1.0, end=0.0, over=10, steps=1)


def test_epsilon_greedy_takes_any_legal_action_at_its_rate() -> None:
    best = np.full(len(DRAWS), 3)
    legal = np.tile([True, False, True, True], (len(DRAWS), 1))
    taken = epsilon_greedy(best, 4, legal, DRAWS, 0.3)
    shares = np.bincount(taken, minlength=4) / len(DRAWS)
    assert shares == pytest.approx([0.1, 0.0, 0.1, 0.8], abs=2e-4)
    assert (epsilon_greedy(best, 4, None, DRAWS, 0.0) == 3).all()
    assert np.bincount(epsilon_greedy(best, 4, None, DRAWS, 1.0)) / len(DRAWS) == pytest.approx([0.25] * 4, abs=2e-4)


def test_each_row_may_have_its_own_epsilon() -> None:
    best, rates = np.full(len(DRAWS), 1), np.where(np.arange(len(DRAWS)) % 2, 0.0, 0.5).astype(np.float32)
    taken = epsilon_greedy(best, 2, None, DRAWS, rates)
    assert (taken[1::2] == 1).all()
    assert (taken[0::2] == 0).mean() == pytest.approx(0.25, abs=1e-3)


def test_uniform_actions_are_legal() -> None:
    legal = np.random.default_rng(1).random((len(DRAWS), 6)) < 0.5
    legal[:, 2] = True
    assert legal[np.arange(len(DRAWS)), uniform(6, legal, DRAWS)].all()


def test_boltzmann_follows_the_softmax_of_the_values() -> None:
    values = np.tile(np.array([[0.0, 1.0, 2.0]], np.float32), (len(DRAWS), 1))
    legal = np.tile([True, True, False], (len(DRAWS), 1))
    for mask, temperature in ((None, 1.0), (None, 0.25), (legal, 0.5)):
        powers = [math.exp(v / temperature) * (mask is None or v < 2) for v in (0.0, 1.0, 2.0)]
        wanted = [power / sum(powers) for power in powers]
        assert boltzmann_probabilities(values, mask, temperature)[0] == pytest.approx(wanted, abs=1e-6)
        shares = np.bincount(boltzmann(values, mask, DRAWS, temperature), minlength=3) / len(DRAWS)
        assert shares == pytest.approx(wanted, abs=2e-4)


def test_a_draw_expands_into_numbers_of_its_own() -> None:
    found = expand_draws(DRAWS[:500], 400)
    assert found.min() >= 0.0 and found.max() < 1.0
    assert found.mean() == pytest.approx(0.5, abs=5e-3) and found.var() == pytest.approx(1 / 12, rel=0.02)
    assert abs(np.corrcoef(found[:, 0], found[:, 1])[0, 1]) < 0.15
    assert np.abs(np.corrcoef(found)[np.triu_indices(500, 1)]).max() < 0.35
    assert (expand_draws(DRAWS[7:8], 400)[0] == found[7]).all()


def test_gaussian_noise_has_its_scale_and_limit() -> None:
    noise = gaussian(DRAWS, 0.3)
    assert noise.mean() == pytest.approx(0.0, abs=1e-4) and noise.std() == pytest.approx(0.3, abs=1e-3)
    assert np.isfinite(standard_normal(np.array([0.0, np.nextafter(1, 0, dtype=np.float32)], np.float32))).all()
    assert np.abs(gaussian(DRAWS, 1.0, limit=0.5)).max() == 0.5


def test_ornstein_uhlenbeck_is_its_recurrence_and_returns_to_the_mean() -> None:
    rng = np.random.default_rng(3)
    draws = rng.random((2_000, 64), dtype=np.float32)
    state, slow, seen = np.zeros(64, np.float32), 0.0, []
    for row in draws:
        slow += 0.15 * (0.0 - slow) * 1.0 + 0.2 * float(standard_normal(row[:1])[0])
        state = ornstein_uhlenbeck(state, row, 0.2)
        seen.append(state)
    assert state[0] == pytest.approx(slow, abs=1e-4)
    # stationary variance of the recurrence: scale^2 / (1 - (1 - theta)^2)
    assert np.var(seen[100:]) == pytest.approx(0.04 / (1 - 0.85**2), rel=0.05)
