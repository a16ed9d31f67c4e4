"""The convolutional network of Mnih et al. 2015 ("Human-level control through deep reinforcement learning")."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from workers.models.contract import mask_logits

_LAYERS = ((32, 8, 4), (64, 4, 2), (64, 3, 1))
"""Channels, kernel and stride of each convolution."""


class NatureNet(nn.Module):
    """Three strided convolutions over (planes, height, width), then one dense layer with both heads.

    Images with their planes last, as cameras give them, are turned first.
    """

    def __init__(self, *, observation_shape: tuple[int, ...], actions: int, hidden: int = 512) -> None:
        super().__init__()
        if len(observation_shape) != 3:
            raise ValueError(f"needs images of (planes, height, width), this game's are {observation_shape}")
        if hidden < 1:
            raise ValueError(f"hidden must be at least 1, not {hidden}")
        self.planes_last = observation_shape[2] < min(observation_shape[:2])
        planes, height, width = (
            (observation_shape[2], *observation_shape[:2]) if self.planes_last else observation_shape
        )
        if min(height, width) < 36:
            raise ValueError(f"needs images of at least 36 by 36, this game's are {height} by {width}")
        self.actions = actions
        layers: list[nn.Module] = []
        for channels, kernel, stride in _LAYERS:
            layers += [nn.Conv2d(planes, channels, kernel, stride), nn.ReLU()]
            planes = channels
        self.convolutions = nn.Sequential(*layers)
        with torch.no_grad():
            size = self.convolutions(torch.zeros(1, self._first_planes, height, width)).numel()
        self.dense = nn.Linear(size, hidden)
        self.heads = nn.Linear(hidden, actions + 1)
        with torch.no_grad():
            self.heads.weight[:actions] *= 0.01

    @property
    def _first_planes(self) -> int:
        first = self.convolutions[0]
        assert isinstance(first, nn.Conv2d)
        return first.in_channels

    def forward(self, observations: Tensor, legal: Tensor | None) -> tuple[Tensor, Tensor]:
        planes = observations.movedim(3, 1) if self.planes_last else observations
        out = self.heads(torch.relu(self.dense(self.convolutions(planes).flatten(1))))
        return mask_logits(out[:, : self.actions], legal), out[:, self.actions]
