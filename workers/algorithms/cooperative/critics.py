"""Central critics. They see the global state, in training only."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from workers.algorithms.cooperative.central import CentralState
from workers.algorithms.learner import Learner
from workers.buffers.contract import Batch
from workers.games.protocol import GameSpec
from workers.models.encoding import Encoder, flatten_mates
from workers.models.mlp import Mlp
from workers.rollout.batch import Experience
from workers.rollout.joint import team_size

CRITIC = "critic"


class StateCritic(nn.Module):
    """V(s) of the team, by a perceptron on the central state."""

    def __init__(self, spec: GameSpec, hidden: Sequence[int]) -> None:
        super().__init__()
        self.central = CentralState(spec)
        self.net = Mlp(observation_shape=(self.central.width,), actions=1, hidden=tuple(hidden))

    def forward(self, state: Tensor) -> Tensor:
        """[rows] from the central state."""
        values: Tensor = self.net(state, None)[1]
        return values


class CounterfactualCritic(nn.Module):
    """Q(s, (u_-i, a)) of each mate i and each of its actions a, while the others keep what they did.

    One perceptron for all mates sees the central state, the mate's observation and number, and the others' actions.
    """

    def __init__(self, spec: GameSpec, hidden: Sequence[int]) -> None:
        super().__init__()
        self.central = CentralState(spec)
        self._encoder = Encoder(spec.observation)
        self._mates, self._actions = team_size(spec.teams), spec.actions
        width = self.central.width + math.prod(self._encoder.shape) + self._mates * (self._actions + 1)
        self.net = Mlp(observation_shape=(width,), actions=self._actions, hidden=tuple(hidden))

    def inputs(self, batch: Batch) -> Tensor:
        """What the perceptron sees: [rows, mates, width]."""
        mates, state = self._mates, self.central(batch)
        rows = len(state)
        seen = self._encoder(flatten_mates(batch.obs)).reshape(rows, mates, -1)
        done = (one_hot(batch["action"], self._actions) * batch["present"].unsqueeze(2)).float()
        own = torch.eye(mates, device=state.device)
        others = done.unsqueeze(1) * (1.0 - own).unsqueeze(2)
        parts = [state.unsqueeze(1).expand(-1, mates, -1), seen, others.flatten(2), own.expand(rows, -1, -1)]
        return torch.cat(parts, 2)

    def forward(self, inputs: Tensor) -> Tensor:
        """[rows, mates, actions]."""
        values: Tensor = self.net(inputs.flatten(0, 1), None)[0]
        return values.reshape(*inputs.shape[:2], -1)


def team_batch(joined: Experience, learner: Learner) -> Batch:
    """Team steps as tensors on the learner's device."""
    return Batch({name: learner.tensor(np.ascontiguousarray(column)) for name, column in joined.columns.items()})


def take(batch: Batch, rows: Tensor) -> Batch:
    """These team steps."""
    return Batch({name: column.index_select(0, rows) for name, column in batch.items()})
