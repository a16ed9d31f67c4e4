"""The projection of C51 and the quantile Huber loss against slow loops and by hand."""

import math

import pytest
import torch
from torch import Tensor

from workers.algorithms.targets.distributional import midpoints, project, quantile_huber


def slow_projection(rewards: Tensor, discounts: Tensor, chances: Tensor, low: float, high: float) -> Tensor:
    """Algorithm 1 of Bellemare et al. (2017), as it is printed."""
    rows, atoms = chances.shape
    width = (high - low) / (atoms - 1)
    found = torch.zeros(rows, atoms)
    for row in range(rows):
        for j in range(atoms):
            moved = min(high, max(low, float(rewards[row]) + float(discounts[row]) * (low + j * width)))
            place = (moved - low) / width
            below, above = math.floor(place + 1e-9), math.ceil(place - 1e-9)
            if below == above:
                found[row, below] += chances[row, j]
            else:
                found[row, below] += chances[row, j] * (above - place)
                found[row, above] += chances[row, j] * (place - below)
    return found


def test_projection_is_the_paper_s_loop() -> None:
    draw = torch.Generator().manual_seed(1)
    chances = torch.softmax(torch.randn(40, 11, generator=draw), 1)
    rewards = torch.randn(40, generator=draw) * 6
    discounts = torch.where(torch.rand(40, generator=draw) < 0.3, 0.0, 0.97)
    found = project(rewards, discounts, chances, -5.0, 5.0)
    assert torch.allclose(found, slow_projection(rewards, discounts, chances, -5.0, 5.0), atol=1e-4)
    assert torch.allclose(found.sum(1), torch.ones(40), atol=1e-5)


def test_projection_by_hand() -> None:
    half = torch.tensor([[0.5, 0.5, 0.0]])  # atoms at 0, 1, 2
    assert project(torch.tensor([0.5]), torch.tensor([1.0]), half, 0.0, 2.0).tolist() == [[0.25, 0.5, 0.25]]
    assert project(torch.tensor([9.0]), torch.tensor([1.0]), half, 0.0, 2.0).tolist() == [[0.0, 0.0, 1.0]]
    assert project(torch.tensor([1.25]), torch.tensor([0.0]), half, 0.0, 2.0).tolist() == [[0.0, 0.75, 0.25]]


def slow_quantile_huber(predicted: Tensor, wanted: Tensor, kappa: float) -> Tensor:
    rows = []
    for row in range(len(predicted)):
        total = torch.zeros(())
        for i in range(predicted.shape[1]):
            tau = (i + 0.5) / predicted.shape[1]
            for j in range(wanted.shape[1]):
                u = wanted[row, j] - predicted[row, i]
                size = abs(float(u.detach()))
                huber = 0.5 * u**2 if size <= kappa else kappa * (u.abs() - 0.5 * kappa)
                total = total + abs(tau - float(u.detach() < 0)) * huber / kappa / wanted.shape[1]
        rows.append(total)
    return torch.stack(rows)


@pytest.mark.parametrize("kappa", [1.0, 0.5])
def test_quantile_huber_is_the_slow_loss_and_its_gradient(kappa: float) -> None:
    draw = torch.Generator().manual_seed(2)
    predicted = (torch.randn(6, 5, generator=draw) * 2).requires_grad_()
    wanted = torch.randn(6, 4, generator=draw) * 2
    slow = slow_quantile_huber(predicted, wanted, kappa)
    (gradient,) = torch.autograd.grad(slow.sum(), predicted)
    loss, slope = quantile_huber(predicted.detach(), wanted, kappa)
    assert torch.allclose(loss, slow.detach(), atol=1e-5) and torch.allclose(slope, gradient, atol=1e-5)


def test_quantile_huber_finds_the_quantiles_of_a_sample() -> None:
    """The minimum of the loss with a small kappa lies at the quantiles."""
    sample = torch.linspace(0.0, 1.0, 201).unsqueeze(0)
    predicted = torch.zeros(1, 4)
    for _ in range(2_000):
        predicted -= 0.02 * quantile_huber(predicted, sample, 1e-3)[1]
    assert torch.allclose(predicted[0], midpoints(4), atol=0.02)
