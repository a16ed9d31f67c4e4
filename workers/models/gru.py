"""A recurrent net: an encoder, one GRU cell with a state per table and seat, and both heads."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from workers.models.contract import mask_logits


class GruNet(nn.Module):
    """For games with hidden information, where the past matters."""

    def __init__(self, *, observation_shape: tuple[int, ...], actions: int, hidden: int = 64, state: int = 64) -> None:
        super().__init__()
        for name, width in (("hidden", hidden), ("state", state)):
            if width < 1:
                raise ValueError(f"{name} must be at least 1, not {width}")
        self.actions = actions
        self.state_size = state
        self.encoder = nn.Linear(math.prod(observation_shape), hidden)
        self.cell = nn.GRUCell(hidden, state)
        self.heads = nn.Linear(state, actions + 1)
        with torch.no_grad():
            self.heads.weight[:actions] *= 0.01

    def forward(self, observations: Tensor, legal: Tensor | None, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        state = self.cell(torch.relu(self.encoder(observations.flatten(1))), state)
        out = self.heads(state)
        return mask_logits(out[:, : self.actions], legal), out[:, self.actions], state
