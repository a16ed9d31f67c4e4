"""What a central network sees in training: the game's global state, or the observations of all mates side by side."""

from __future__ import annotations

import math

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn.functional import one_hot

from workers.buffers.contract import Batch
from workers.games.protocol import GameSpec
from workers.models.encoding import Encoder, first_part, flatten_mates
from workers.rollout.joint import GLOBAL, team_size


class CentralState(nn.Module):
    """A vector for each team step. It has no weights.

    A game of several teams shows all of them one global state, so that the number of the team is put beside it.
    """

    def __init__(self, spec: GameSpec) -> None:
        super().__init__()
        self._declared = spec.state is not None
        self._teams = spec.team_count if self._declared and spec.team_count > 1 else 0
        self._encoder = Encoder(spec.observation if spec.state is None else spec.state)
        copies = 1 if self._declared else team_size(spec.teams)
        self.width = copies * math.prod(self._encoder.shape) + self._teams

    @property
    def space(self) -> spaces.Box:
        """The space of the vector."""
        return spaces.Box(-np.inf, np.inf, (self.width,), np.float32)

    def forward(self, batch: Batch, prefix: str = "") -> Tensor:
        """[rows, width] of a batch of team steps, or of those that follow ("next/")."""
        if not self._declared:
            shown = batch.next_obs if prefix else batch.obs
            encoded: Tensor = self._encoder(flatten_mates(shown))
            return encoded.reshape(len(first_part(shown)), -1)
        state: Tensor = self._encoder(batch[f"{prefix}{GLOBAL}"]).flatten(1)
        return torch.cat([state, one_hot(batch["team"], self._teams)], 1) if self._teams else state
