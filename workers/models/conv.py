"""A small residual convolution net for boards: planes in, policy and value out."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from workers.models.contract import mask_logits


class ConvNet(nn.Module):
    """Residual 3x3 convolutions over (planes, height, width), then one dense layer with both heads."""

    def __init__(
        self,
        *,
        observation_shape: tuple[int, ...],
        actions: int,
        channels: int = 32,
        blocks: int = 2,
        hidden: int = 128,
    ) -> None:
        super().__init__()
        if len(observation_shape) != 3:
            raise ValueError(f"needs observations of (planes, height, width), this game's are {observation_shape}")
        for name, count in (("channels", channels), ("blocks", blocks), ("hidden", hidden)):
            if count < 1:
                raise ValueError(f"{name} must be at least 1, not {count}")
        planes, height, width = observation_shape
        self.actions = actions
        self.stem = nn.Conv2d(planes, channels, 3, padding=1)
        self.blocks = nn.ModuleList(_Block(channels) for _ in range(blocks))
        self.dense = nn.Linear(channels * height * width, hidden)
        self.heads = nn.Linear(hidden, actions + 1)
        with torch.no_grad():
            self.heads.weight[:actions] *= 0.01

    def forward(self, observations: Tensor, legal: Tensor | None) -> tuple[Tensor, Tensor]:
        planes = torch.relu(self.stem(observations))
        for block in self.blocks:
            planes = block(planes)
        out = self.heads(torch.relu(self.dense(planes.flatten(1))))
        return mask_logits(out[:, : self.actions], legal), out[:, self.actions]


class _Block(nn.Module):
    """x + f(x) with two convolutions; no batch statistics, so that rows never depend on each other."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        nn.init.zeros_(self.second.weight)

    def forward(self, planes: Tensor) -> Tensor:
        return torch.relu(planes + self.second(torch.relu(self.first(planes))))
