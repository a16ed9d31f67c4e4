"""A multi-layer perceptron: one trunk, one last layer that holds the policy's columns and the value's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from workers.models.contract import mask_logits

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}
IN_PLACE = {"relu": torch.relu_, "tanh": torch.tanh_}
"""The same for the fresh result of a layer, which nothing else reads: this takes half the time."""


class Mlp(nn.Module):
    """The default network. Its flat structure lets many of them run as one grouped matmul."""

    def __init__(
        self,
        *,
        observation_shape: tuple[int, ...],
        actions: int,
        hidden: Sequence[int] = (128, 128),
        activation: str = "relu",
    ) -> None:
        super().__init__()
        if not hidden or any(not isinstance(width, int) or width < 1 for width in hidden):
            raise ValueError(f"hidden must be positive whole numbers, not {list(hidden)}")
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}, not {activation!r}")
        self.actions = actions
        self.activation = activation
        widths = [math.prod(observation_shape), *hidden]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(widths))
        self.heads = nn.Linear(widths[-1], actions + 1)
        for layer in self.layers:
            _orthogonal(layer, math.sqrt(2))
        _orthogonal(self.heads, 1.0)
        with torch.no_grad():
            # Near-uniform play at the start: the first games explore instead of following random weights.
            self.heads.weight[:actions] *= 0.01

    def forward(self, observations: Tensor, legal: Tensor | None) -> tuple[Tensor, Tensor]:
        act = IN_PLACE[self.activation]
        hidden = observations.flatten(1)
        for layer in self.layers:
            hidden = act(layer(hidden))
        out = self.heads(hidden)
        return mask_logits(out[:, : self.actions], legal), out[:, self.actions]

    def linears(self) -> list[nn.Linear]:
        """Every layer in order, the heads last."""
        return [*self.layers, self.heads]


def _orthogonal(layer: nn.Module, gain: float) -> None:
    assert isinstance(layer, nn.Linear)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
