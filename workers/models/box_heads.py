"""Action heads of a Box: Gaussian, squashed Gaussian and Beta distributions, with independent numbers."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import torch
from scipy.special import betaincinv
from torch import Tensor
from torch.nn.functional import softplus

from workers.games.spaces import ActionLayout
from workers.models.draws import BELOW_ONE, LEAST_DRAW
from workers.models.heads import Head

BoxHead = Literal["gaussian", "squashed", "beta"]

LOG_STD = (-5.0, 2.0)
"""Bounds of the logarithm of a standard deviation, in units of half the range of a Box."""
_EDGE = 1e-6
"""Squashed actions and those of a Beta distribution keep this distance from the bounds, as a share of the range."""


class _BoxHead(Head):
    """Numbers of a Box. They are computed in units in which the bounds are -1 and 1."""

    def __init__(self, layout: ActionLayout) -> None:
        super().__init__(layout, 2 * layout.width)
        low, high = (torch.from_numpy(bound.astype(np.float64)) for bound in layout.bounds)
        self.bounded = bool(torch.isfinite(low).all() and torch.isfinite(high).all())
        both = torch.isfinite(low) & torch.isfinite(high)
        self._middle = torch.where(both, (low + high) / 2, 0.0).float()
        self._half = torch.where(both, (high - low) / 2, 1.0).clamp(min=1e-8).float()
        self._log_volume = float(self._half.log().sum())
        """What a density loses by the scale of the Box."""

    def to_box(self, units: Tensor) -> Tensor:
        """Numbers [rows, width] in these units as actions."""
        return self._shaped(units * self._half.to(units.device) + self._middle.to(units.device))

    def to_units(self, actions: Tensor) -> Tensor:
        """Actions as numbers [rows, width] in these units."""
        flat = self._flat(actions)
        return (flat - self._middle.to(flat.device)) / self._half.to(flat.device)


class GaussianHead(_BoxHead):
    """A Gaussian for each number; the game clips what lies beyond the bounds."""

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and logarithm of the standard deviation, [rows, width] each."""
        mean, log_std = outputs.chunk(2, dim=1)
        return mean, log_std.clamp(*LOG_STD)

    def draw(self, outputs: Tensor, draws: Tensor) -> Tensor:
        mean, log_std = self.moments(outputs)
        return self.to_box(mean + log_std.exp() * _normal(draws))

    def mode(self, outputs: Tensor) -> Tensor:
        return self.to_box(self.moments(outputs)[0])

    def log_prob(self, outputs: Tensor, actions: Tensor) -> Tensor:
        return _gaussian(self.to_units(actions), *self.moments(outputs)) - self._log_volume

    def entropy(self, outputs: Tensor) -> Tensor:
        return (self.moments(outputs)[1] + 0.5 * math.log(2 * math.pi * math.e)).sum(1) + self._log_volume

    def divergence(self, outputs: Tensor, other: Tensor) -> Tensor:
        """Also of squashed actions: no bijection changes it."""
        (mean, log_std), (that_mean, that_log_std) = self.moments(outputs), self.moments(other)
        apart = (2 * log_std).exp() + (mean - that_mean).square()
        return (that_log_std - log_std + 0.5 * apart * (-2 * that_log_std).exp() - 0.5).sum(1)


class SquashedHead(GaussianHead):
    """A Gaussian before a tanh: every action lies within the bounds."""

    _nodes, _weights = (torch.from_numpy(part).float() for part in np.polynomial.hermite_e.hermegauss(9))

    def draw(self, outputs: Tensor, draws: Tensor) -> Tensor:
        mean, log_std = self.moments(outputs)
        return self.to_box((mean + log_std.exp() * _normal(draws)).tanh().clamp(_EDGE - 1, 1 - _EDGE))

    def mode(self, outputs: Tensor) -> Tensor:
        return self.to_box(self.moments(outputs)[0].tanh().clamp(_EDGE - 1, 1 - _EDGE))

    def log_prob(self, outputs: Tensor, actions: Tensor) -> Tensor:
        before = self.to_units(actions).clamp(_EDGE - 1, 1 - _EDGE).atanh()
        return _gaussian(before, *self.moments(outputs)) - log_slope(before).sum(1) - self._log_volume

    def entropy(self, outputs: Tensor) -> Tensor:
        """The Gaussian's, plus the mean logarithm of the tanh's slope by Gauss-Hermite quadrature."""
        mean, log_std = self.moments(outputs)
        nodes, weights = self._nodes.to(outputs.device), self._weights.to(outputs.device)
        points = mean.unsqueeze(-1) + log_std.exp().unsqueeze(-1) * nodes
        slope = (log_slope(points) * weights).sum(-1) / weights.sum()
        return super().entropy(outputs) + slope.sum(1)


class BetaHead(_BoxHead):
    """A Beta distribution with one peak for each number, between the bounds."""

    def _parameters(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        one, other = (1.0 + softplus(outputs)).chunk(2, dim=1)
        return one, other

    def draw(self, outputs: Tensor, draws: Tensor) -> Tensor:
        one, other = (part.detach().cpu().double().numpy() for part in self._parameters(outputs))
        share = torch.from_numpy(np.asarray(betaincinv(one, other, draws.cpu().double().numpy())))
        return self._from_share(share.to(outputs.device, outputs.dtype))

    def mode(self, outputs: Tensor) -> Tensor:
        one, other = self._parameters(outputs)
        # Both parameters exceed 1, so the sum exceeds 2; rounding may make it equal.
        return self._from_share((one - 1) / (one + other - 2).clamp(min=1e-12))

    def _from_share(self, share: Tensor) -> Tensor:
        return self.to_box(share.clamp(_EDGE, 1 - _EDGE) * 2 - 1)

    def log_prob(self, outputs: Tensor, actions: Tensor) -> Tensor:
        share = ((self.to_units(actions) + 1) / 2).clamp(_EDGE, 1 - _EDGE)
        one, other = self._parameters(outputs)
        found = (one - 1) * share.log() + (other - 1) * (-share).log1p() - _log_beta(one, other)
        return found.sum(1) - self._log_range

    def entropy(self, outputs: Tensor) -> Tensor:
        one, other = self._parameters(outputs)
        found = _log_beta(one, other) - (one - 1) * one.digamma() - (other - 1) * other.digamma()
        return (found + (one + other - 2) * (one + other).digamma()).sum(1) + self._log_range

    def divergence(self, outputs: Tensor, other: Tensor) -> Tensor:
        (one, two), (that_one, that_two) = self._parameters(outputs), self._parameters(other)
        found = _log_beta(that_one, that_two) - _log_beta(one, two)
        found = found + (one - that_one) * one.digamma() + (two - that_two) * two.digamma()
        return (found + (that_one + that_two - one - two) * (one + two).digamma()).sum(1)

    @property
    def _log_range(self) -> float:
        return self._log_volume + self.layout.width * math.log(2.0)


def _normal(draws: Tensor) -> Tensor:
    normal: Tensor = torch.special.ndtri(draws.clamp(LEAST_DRAW, BELOW_ONE))
    return normal


def _log_beta(one: Tensor, other: Tensor) -> Tensor:
    """The logarithm of the Beta function."""
    return one.lgamma() + other.lgamma() - (one + other).lgamma()


def _gaussian(points: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    """[rows], the log-density of points of independent Gaussians."""
    return (-0.5 * ((points - mean) * (-log_std).exp()).square() - log_std - 0.5 * math.log(2 * math.pi)).sum(1)


def log_slope(points: Tensor) -> Tensor:
    """log(1 - tanh(x)^2), without the difference that rounds to 0."""
    return 2.0 * (math.log(2.0) - points - softplus(-2.0 * points))
