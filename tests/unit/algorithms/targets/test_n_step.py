"""n-step and rescaled targets against slow loops and hand-computed tables."""

import numpy as np
import pytest
import torch
from torch import Tensor

from workers.algorithms.targets.n_step import n_step, rescale, rescaled_n_step, unscale


def slow_n_step(rewards: Tensor, discounts: Tensor, later: Tensor, n: int, last: Tensor) -> Tensor:
    found = torch.zeros_like(rewards)
    for t in range(rewards.shape[0]):
        for row in range(rewards.shape[1]):
            weight, total, at = 1.0, 0.0, t
            for k in range(n):
                at = t + k
                total += weight * float(rewards[at, row])
                weight *= float(discounts[at, row])
                if at == len(rewards) - 1 or bool(last[at, row]):
                    break
            found[t, row] = total + weight * float(later[at, row])
    return found


def sequences(seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    rng = np.random.default_rng(seed)
    shape = (9, 5)
    ended = rng.random(shape) < 0.15
    last = ended | (rng.random(shape) < 0.1)
    parts = rng.normal(size=shape), np.where(ended, 0.0, 0.9), rng.normal(size=shape) * 5
    rewards, discounts, later = (torch.tensor(part, dtype=torch.float32) for part in parts)
    return rewards, discounts, later, torch.tensor(last)


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_n_step_is_the_slow_sum(n: int) -> None:
    rewards, discounts, later, last = sequences(n)
    assert torch.allclose(
        n_step(rewards, discounts, later, n, last), slow_n_step(rewards, discounts, later, n, last), atol=1e-5
    )


def test_n_step_by_hand() -> None:
    rewards, discounts = torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([[0.5], [0.5], [0.0]])
    later = torch.tensor([[10.0], [20.0], [30.0]])
    assert n_step(rewards, discounts, later, 1).T.tolist() == [[6.0, 12.0, 4.0]]
    assert n_step(rewards, discounts, later, 2).T.tolist() == [[1 + 0.5 * 12, 2 + 0.5 * 4, 4.0]]
    assert n_step(rewards, discounts, later, 3).T.tolist() == [[1 + 0.5 * (2 + 0.5 * 4), 4.0, 4.0]]


def test_rescaling_by_hand_and_back() -> None:
    values = torch.tensor([0.0, 3.0, -8.0, 99.0, -1e4])
    wanted = [0.0, 1.0 + 3e-3, -2.0 - 8e-3, 9.0 + 99e-3, -((1e4 + 1) ** 0.5 - 1) - 10.0]
    assert rescale(values).tolist() == pytest.approx(wanted, rel=1e-5)
    assert unscale(rescale(values.double())).tolist() == pytest.approx(values.tolist(), abs=1e-8)


def test_rescaled_targets_are_sums_of_true_values() -> None:
    rewards, discounts, later, last = (part.double() if part.is_floating_point() else part for part in sequences(9))
    slow = slow_n_step(rewards, discounts, unscale(later), 3, last).double()
    assert torch.allclose(unscale(rescaled_n_step(rewards, discounts, later, 3, last)), slow, atol=1e-3)
