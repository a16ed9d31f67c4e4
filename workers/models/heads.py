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

The heads of a Box are in `box_heads.py`, those of a Dict or Tuple in `head_factory.py`, which makes them all.
See docs/decisions/algorithms.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import logsigmoid, softplus

from workers.games.spaces import ActionLayout
from workers.models.draws import BELOW_ONE


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
        return actions.reshape(actions.shape[0], -1)

    def _shaped(self, actions: Tensor) -> Tensor:
        return actions.reshape(actions.shape[0], *self.layout.shape)


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
