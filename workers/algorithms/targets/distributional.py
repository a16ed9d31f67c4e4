"""Distributional targets and losses: the projection of C51, and the quantile Huber loss."""

from __future__ import annotations

import torch
from torch import Tensor


def support(low: float, high: float, atoms: int, device: torch.device | None = None) -> Tensor:
    """The values of the atoms, equally spaced."""
    return torch.linspace(low, high, atoms, device=device)


def project(rewards: Tensor, discounts: Tensor, chances: Tensor, low: float, high: float) -> Tensor:
    """The distribution of reward + discount * Z on the atoms of Z again (Bellemare et al., 2017, algorithm 1).

    `chances` [rows, atoms]; an atom that lands between two others is shared by them in proportion to its distance.
    """
    atoms = chances.shape[1]
    moved = rewards.unsqueeze(1) + discounts.unsqueeze(1) * support(low, high, atoms, chances.device)
    place = moved.clamp_(low, high).sub_(low).mul_((atoms - 1) / (high - low)).clamp_(0, atoms - 1)
    below = place.floor()
    share = chances * place.sub_(below)
    index = below.long()
    found = torch.zeros_like(chances)
    found.scatter_add_(1, index, chances - share)
    return found.scatter_add_(1, index.add_(1).clamp_(max=atoms - 1), share)


def midpoints(quantiles: int, device: torch.device | None = None) -> Tensor:
    """tau_i = (i + 1/2) / quantiles: where quantile regression puts its estimates."""
    return (torch.arange(quantiles, device=device, dtype=torch.float32) + 0.5) / quantiles


def quantile_huber(predicted: Tensor, wanted: Tensor, kappa: float = 1.0) -> tuple[Tensor, Tensor]:
    """The quantile Huber loss of each row (Dabney et al., 2018), and its gradient at `predicted`.

    sum_i mean_j |tau_i - [u < 0]| L_kappa(u) / kappa with u = wanted_j - predicted_i, and L_kappa Huber's loss.
    `predicted` is [rows, quantiles], `wanted` [rows, samples].
    """
    apart = wanted.unsqueeze(1) - predicted.unsqueeze(2)
    size = apart.abs()
    inside = size.clamp(max=kappa)
    # Huber's loss: u^2 / 2 up to kappa, then kappa (|u| - kappa / 2); its slope is u, clamped
    huber = inside * (size - 0.5 * inside)
    weight = (midpoints(predicted.shape[1], predicted.device).unsqueeze(1) - (apart < 0).float()).abs_().div_(kappa)
    slope = apart.clamp_(-kappa, kappa).mul_(weight).mean(2).neg_()
    return huber.mul_(weight).mean(2).sum(1), slope
