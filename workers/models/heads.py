"""Action heads: the distribution that a model's first output stands for, chosen by the action space.

A model does not know its distribution. It returns `head.size` numbers a row; the head draws actions from them and
gives log-probabilities and entropies. Every draw is the inverse of a distribution function at uniform numbers, so that
equal numbers give equal actions.

    Discrete         logits
    MultiDiscrete    logits of each number, side by side
    MultiBinary      a logit for each bit
    Box              `gaussian`: mean and logarithm of the standard deviation of each number
                     `squashed`: the same before a tanh onto the bounds
                     `beta`: both parameters of a Beta distribution between the bounds
    Dict, Tuple      the heads of the parts, side by side

See docs/decisions/algorithms.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from scipy.special import betaincinv
from torch import Tensor
from torch.nn.functional import logsigmoid, softplus

from workers.games.spaces import ActionLayout
from workers.models.draws import BELOW_ONE, LEAST_DRAW

BoxHead = Literal["gaussian", "squashed", "beta"]
BOX_HEADS: tuple[BoxHead, ...] = ("gaussian", "squashed", "beta")

LOG_STD = (-5.0, 2.0)
"""Bounds of the logarithm of a standard deviation, in units of half the range of a Box."""
_EDGE = 1e-6
"""Squashed actions and those of a Beta distribution keep this distance from the bounds, as a share of the range."""


class BadHead(ValueError):
    """No head fits the action space; the message says what is allowed."""


class Head(ABC):
    """The distribution of one action space. Rows do not depend on each other."""

    def __init__(self, layout: ActionLayout, size: int) -> None:
        self.layout = layout
        self.size = size
        """Width of a model's first output."""

    def sample(self, outputs: Tensor, draws: Tensor | None) -> tuple[Tensor, Tensor]:
        """Actions, and their log-probabilities [rows]: drawn with uniform numbers, or the mode for None."""
        actions = self.mode(outputs) if draws is None else self.draw(outputs, draws)
        return actions, self.log_prob(outputs, actions)

    @abstractmethod
    def draw(self, outputs: Tensor, draws: Tensor) -> Tensor:
        """Actions by inverting the distribution at these uniform numbers: see `ActionLayout.draws_shape`."""

    @abstractmethod
    def mode(self, outputs: Tensor) -> Tensor:
        """The greedy actions."""

    @abstractmethod
    def log_prob(self, outputs: Tensor, actions: Tensor) -> Tensor:
        """[rows]; differentiable in `outputs`."""

    @abstractmethod
    def entropy(self, outputs: Tensor) -> Tensor:
        """[rows]; differentiable in `outputs`."""

    @abstractmethod
    def divergence(self, outputs: Tensor, other: Tensor) -> Tensor:
        """[rows]: KL divergence from the distribution of `outputs` to that of `other`; differentiable in `outputs`."""

    def _flat(self, actions: Tensor) -> Tensor:
        return actions.reshape(len(actions), -1)

    def _shaped(self, actions: Tensor) -> Tensor:
        return actions.reshape(len(actions), *self.layout.shape)


class DiscreteHead(Head):
    """One of n actions, from masked logits."""

    def __init__(self, layout: ActionLayout) -> None:
        super().__init__(layout, layout.choices[0])

    def sample(self, outputs: Tensor, draws: Tensor | None) -> tuple[Tensor, Tensor]:
        return choose(outputs, draws)

    def draw(self, outputs: Tensor, draws: Tensor) -> Tensor:
        return choose(outputs, draws)[0]

    def mode(self, outputs: Tensor) -> Tensor:
        return outputs.argmax(1)

    def log_prob(self, outputs: Tensor, actions: Tensor) -> Tensor:
        return torch.log_softmax(outputs, 1).gather(1, actions.unsqueeze(1)).squeeze(1)

    def entropy(self, outputs: Tensor) -> Tensor:
        log_probs = torch.log_softmax(outputs, 1)
        return -(log_probs.exp() * log_probs).sum(1)

    def divergence(self, outputs: Tensor, other: Tensor) -> Tensor:
        log_probs = torch.log_softmax(outputs, 1)
        return (log_probs.exp() * (log_probs - torch.log_softmax(other, 1))).sum(1)


class MultiDiscreteHead(Head):
    """Several independent choices."""

    def __init__(self, layout: ActionLayout) -> None:
        super().__init__(layout, sum(layout.choices))
        self._parts = [DiscreteHead(ActionLayout(spaces.Discrete(count))) for count in layout.choices]

    def _outputs(self, outputs: Tensor) -> Any:
        return zip(self._parts, torch.split(outputs, list(self.layout.choices), 1), strict=True)

    def draw(self, outputs: Tensor, draws: Tensor) -> Tensor:
        chosen = [head.draw(part, draws[:, number]) for number, (head, part) in enumerate(self._outputs(outputs))]
        return self._shaped(torch.stack(chosen, 1))

    def mode(self, outputs: Tensor) -> Tensor:
        return self._shaped(torch.stack([head.mode(part) for head, part in self._outputs(outputs)], 1))

    def log_prob(self, outputs: Tensor, actions: Tensor) -> Tensor:
        flat = self._flat(actions)
        parts = [head.log_prob(part, flat[:, number]) for number, (head, part) in enumerate(self._outputs(outputs))]
        return torch.stack(parts).sum(0)

    def entropy(self, outputs: Tensor) -> Tensor:
        return torch.stack([head.entropy(part) for head, part in self._outputs(outputs)]).sum(0)

    def divergence(self, outputs: Tensor, other: Tensor) -> Tensor:
        both = zip(self._outputs(outputs), self._outputs(other), strict=True)
        return torch.stack([head.divergence(part, that) for (head, part), (_, that) in both]).sum(0)


class MultiBinaryHead(Head):
    """Independent bits."""

    def __init__(self, layout: ActionLayout) -> None:
        super().__init__(layout, layout.width)

    def draw(self, outputs: Tensor, draws: Tensor) -> Tensor:
        return self._shaped((draws < outputs.sigmoid()).to(torch.int8))

    def mode(self, outputs: Tensor) -> Tensor:
        return self._shaped((outputs > 0).to(torch.int8))

    def log_prob(self, outputs: Tensor, actions: Tensor) -> Tensor:
        sign = self._flat(actions).to(outputs.dtype) * 2 - 1
        return logsigmoid(sign * outputs).sum(1)

    def entropy(self, outputs: Tensor) -> Tensor:
        return (softplus(outputs) - outputs * outputs.sigmoid()).sum(1)

    def divergence(self, outputs: Tensor, other: Tensor) -> Tensor:
        return (softplus(other) - softplus(outputs) + outputs.sigmoid() * (outputs - other)).sum(1)


class _BoxHead(Head):
    """Numbers of a Box. They are computed in units in which the bounds are -1 and 1."""

    def __init__(self, layout: ActionLayout) -> None:
        super().__init__(layout, 2 * layout.width)
        low, high = (torch.from_numpy(bound.astype(np.float64)) for bound in layout.bounds)
        self.bounded = bool(torch.isfinite(low).all() and torch.isfinite(high).all())
        both = torch.isfinite(low) & torch.isfinite(high)
        self._middle = torch.where(both, (low + high) / 2, 0.0).float()
        self._half = torch.where(both, (high - low) / 2, 1.0).clamp(min=1e-8).float()

    def to_box(self, units: Tensor) -> Tensor:
        """Numbers [rows, width] in these units as actions."""
        return self._shaped(units * self._half.to(units.device) + self._middle.to(units.device))

    def to_units(self, actions: Tensor) -> Tensor:
        """Actions as numbers [rows, width] in these units."""
        flat = self._flat(actions)
        return (flat - self._middle.to(flat.device)) / self._half.to(flat.device)

    @property
    def _log_volume(self) -> float:
        """What a density loses by the scale of the Box."""
        return float(self._half.log().sum())


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


class CompositeHead(Head):
    """The parts of a Dict or Tuple, each by its own head."""

    def __init__(self, layout: ActionLayout, box: BoxHead) -> None:
        self._parts = [(make_head(part, box), columns) for part, columns in layout.slices()]
        super().__init__(layout, sum(head.size for head, _ in self._parts))

    def _outputs(self, outputs: Tensor) -> Any:
        sizes = [head.size for head, _ in self._parts]
        return ((head, at, part) for (head, at), part in zip(self._parts, torch.split(outputs, sizes, 1), strict=True))

    def _join(self, parts: list[Tensor]) -> Tensor:
        return torch.cat([part.reshape(len(part), -1).float() for part in parts], 1)

    def draw(self, outputs: Tensor, draws: Tensor) -> Tensor:
        return self._join([head.draw(part, _for(head, draws[:, at])) for head, at, part in self._outputs(outputs)])

    def mode(self, outputs: Tensor) -> Tensor:
        return self._join([head.mode(part) for head, _, part in self._outputs(outputs)])

    def log_prob(self, outputs: Tensor, actions: Tensor) -> Tensor:
        return torch.stack(
            [head.log_prob(part, _for(head, actions[:, at], typed=True)) for head, at, part in self._outputs(outputs)]
        ).sum(0)

    def entropy(self, outputs: Tensor) -> Tensor:
        return torch.stack([head.entropy(part) for head, _, part in self._outputs(outputs)]).sum(0)

    def divergence(self, outputs: Tensor, other: Tensor) -> Tensor:
        both = zip(self._outputs(outputs), self._outputs(other), strict=True)
        return torch.stack([head.divergence(part, that) for (head, _, part), (_, _, that) in both]).sum(0)


def make_head(layout: ActionLayout, box: BoxHead = "gaussian") -> Head:
    """The head of an action space; `box` is the distribution of its Boxes."""
    if layout.parts:
        return CompositeHead(layout, box)
    match layout.space:
        case spaces.Discrete():
            return DiscreteHead(layout)
        case spaces.MultiDiscrete():
            return MultiDiscreteHead(layout)
        case spaces.MultiBinary():
            return MultiBinaryHead(layout)
    kinds = {"gaussian": GaussianHead, "squashed": SquashedHead, "beta": BetaHead}
    if box not in kinds:
        raise BadHead(f"head must be one of {', '.join(kinds)}, not {box!r}")
    head = kinds[box](layout)
    if box != "gaussian" and not head.bounded:
        raise BadHead(f"head {box!r} needs a Box with finite bounds, not {layout.space}; allowed: gaussian")
    return head


def choose(logits: Tensor, draws: Tensor | NDArray[np.float32] | None) -> tuple[Tensor, Tensor]:
    """One action per row from masked logits, by inverting the distribution at `draws`, and its log-probability."""
    # [actions, rows]: torch is many times slower at a softmax over a short last axis.
    log_probs = torch.log_softmax(logits.t().contiguous(), 0)
    if draws is None:
        actions = logits.argmax(1)
    else:
        ladder = log_probs.exp().cumsum_(0)
        rungs = torch.as_tensor(draws * BELOW_ONE).to(ladder.device).mul_(ladder[-1])
        # "<=": a draw of 0 passes over leading actions of probability 0.
        actions = (ladder <= rungs).sum(0)
    return actions, log_probs.gather(0, actions.unsqueeze(0)).squeeze(0)


def _for(head: Head, columns: Tensor, typed: bool = False) -> Tensor:
    """Columns of a composite as the part's own head takes them."""
    if isinstance(head.layout.space, spaces.Discrete):
        columns = columns[:, 0]
    return columns.to(torch.from_numpy(np.zeros(0, head.layout.dtype)).dtype) if typed else columns


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
