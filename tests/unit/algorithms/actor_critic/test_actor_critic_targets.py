"""Returns and advantages equal those of a slow loop that follows each trajectory as the papers write it."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.unit.training.samples import random_batch
from workers.algorithms.targets.gae import gae
from workers.algorithms.targets.td_lambda import td_lambda
from workers.algorithms.targets.upgo import upgo
from workers.algorithms.targets.vtrace import vtrace
from workers.rollout.batch import PENDING, TERMINAL, Experience

GAMMA, LAMBDA = 0.9, 0.7
SEEDS = range(3)


def value(batch: Experience, row: int) -> float:
    return 0.0 if row == TERMINAL else float(batch.values[row])


def delta(batch: Experience, row: int) -> float:
    return float(batch.rewards[row]) + GAMMA * value(batch, int(batch.next_row[row])) - value(batch, row)


def lambda_return(batch: Experience, row: int) -> float:
    """The mean of the n-step returns with weights (1 - lambda) lambda^(n - 1), the rest on the longest."""
    if row == TERMINAL or batch.next_row[row] == PENDING:
        return value(batch, row)
    returns, earned, discount, at = [], 0.0, 1.0, row
    while at != TERMINAL and batch.next_row[at] != PENDING:
        earned += discount * float(batch.rewards[at])
        discount *= GAMMA
        at = int(batch.next_row[at])
        returns.append(earned + discount * value(batch, at))
    weights = [(1 - LAMBDA) * LAMBDA**number for number in range(len(returns) - 1)]
    return float(np.dot([*weights, LAMBDA ** (len(returns) - 1)], returns))


def upgoing_return(batch: Experience, row: int) -> float:
    if row == TERMINAL or batch.next_row[row] == PENDING:
        return value(batch, row)
    after = int(batch.next_row[row])
    earned = float(batch.rewards[row])
    if after == TERMINAL:
        return earned
    better = batch.next_row[after] != PENDING and float(batch.rewards[after]) + GAMMA * value(
        batch, int(batch.next_row[after])
    ) >= value(batch, after)
    return earned + GAMMA * (upgoing_return(batch, after) if better else value(batch, after))


def corrected_value(played: Experience, present: Experience, row: int, rho_clip: float, trace_clip: float) -> float:
    """V-trace as a sum over the whole trajectory: products of trace weights times clipped differences."""
    if row == TERMINAL:
        return 0.0
    total, weight, at = value(present, row), 1.0, row
    while at != TERMINAL and played.next_row[at] != PENDING:
        ratio = float(np.exp(present.log_probs[at] - played.log_probs[at]))
        total += weight * min(ratio, rho_clip) * delta(present, at)
        weight *= GAMMA * LAMBDA * min(ratio, trace_clip)
        at = int(played.next_row[at])
    return total


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("found", [td_lambda, lambda batch, gamma, lam: gae(batch, gamma, lam).returns])
def test_lambda_returns(seed: int, found: Callable[[Experience, float, float], np.ndarray]) -> None:
    batch = random_batch(seed=seed)
    expected = [lambda_return(batch, row) for row in range(len(batch))]
    np.testing.assert_allclose(found(batch, GAMMA, LAMBDA), expected, atol=1e-5)


def test_advantages_are_returns_less_values() -> None:
    batch = random_batch()
    found = gae(batch, GAMMA, LAMBDA)
    np.testing.assert_allclose(found.advantages, found.returns - batch.values, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_upgoing_advantages(seed: int) -> None:
    batch = random_batch(seed=seed)
    expected = [upgoing_return(batch, row) - value(batch, row) for row in range(len(batch))]
    np.testing.assert_allclose(upgo(batch, GAMMA), expected, atol=1e-5)
    longest = gae(batch, GAMMA, 1.0).advantages
    assert (np.abs(upgo(batch, GAMMA) - longest) > 0.01).any(), "some trajectory is cut at a bad decision"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("rho_clip", "trace_clip"), [(1.0, 1.0), (2.0, 0.5)])
def test_vtrace_targets(seed: int, rho_clip: float, trace_clip: float) -> None:
    played = random_batch(seed=seed)
    rng = np.random.default_rng(seed)
    present = played.with_columns(
        {
            "log_prob": played.log_probs + rng.standard_normal(len(played)).astype(np.float32),
            "value": rng.standard_normal(len(played)).astype(np.float32),
        }
    )
    found = vtrace(played, present, gamma=GAMMA, lam=LAMBDA, rho_clip=rho_clip, trace_clip=trace_clip)
    expected = [corrected_value(played, present, row, rho_clip, trace_clip) for row in range(len(played))]
    np.testing.assert_allclose(found.returns, expected, atol=1e-5)
    for row in played.trainable.tolist():
        rho = min(float(np.exp(present.log_probs[row] - played.log_probs[row])), rho_clip)
        after = int(played.next_row[row])
        later = corrected_value(played, present, after, rho_clip, trace_clip)
        wanted = rho * (float(played.rewards[row]) + GAMMA * later - value(present, row))
        assert found.advantages[row] == pytest.approx(wanted, abs=1e-5)
