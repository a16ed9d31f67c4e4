"""Observation normalisation for any model: running mean and variance, stored with the weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

_WIDEST = 10.0
_MOST_ROWS = 10_000_000.0
"""After this many rows the moments are moving averages, so that they follow a changing policy."""


class Normalised(nn.Module):
    """Wraps a model. The moments are buffers: checkpoints and the weights sent to rollout actors include them."""

    mean: Tensor
    square: Tensor
    rows: Tensor

    def __init__(self, inner: nn.Module, observation_shape: tuple[int, ...]) -> None:
        super().__init__()
        self.inner = inner
        self.state_size = int(getattr(inner, "state_size", 0))
        self.state_shapes = getattr(inner, "state_shapes", None)
        self.register_buffer("mean", torch.zeros(observation_shape))
        self.register_buffer("square", torch.ones(observation_shape))
        self.register_buffer("rows", torch.zeros(()))

    def forward(self, observations: Tensor, *rest: Tensor) -> Any:
        return self.inner(self.bound((observations - self.mean) / self.spread), *rest)

    @property
    def spread(self) -> Tensor:
        """The standard deviation, never 0."""
        return (self.square - self.mean.square()).clamp(min=1e-6).sqrt()

    @staticmethod
    def bound(observations: Tensor) -> Tensor:
        """Normalised observations without outliers."""
        return observations.clamp(-_WIDEST, _WIDEST)

    @staticmethod
    def moments(observations: Tensor) -> Tensor:
        """First and second moments of these encoded rows, [2, *shape]; they may be averaged over processes."""
        return torch.stack([observations.mean(0), observations.square().mean(0)])

    @torch.no_grad()
    def absorb(self, moments: Tensor, rows: int) -> None:
        """Merge the moments of this many rows into the running moments."""
        total = self.rows + rows
        weight = rows / total
        self.mean.lerp_(moments[0], weight)
        self.square.lerp_(moments[1], weight)
        self.rows.copy_(total.clamp(max=_MOST_ROWS))
