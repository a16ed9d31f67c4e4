"""A model of your own over a Dict observation, and the environment it plays, in one file.

A trial file beside it names both; see own_model.yaml. `Courier` shows a picture of bytes and the
direction that it was told by radio; its action is a step in the plane, a Box. `CourierNet` reads each part in its own
way: the game's spec tells it their names, shapes and types.
"""

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn

from lanista.games import GameSpec
from lanista.models import mask_logits

SIZE = 8


class Courier(gymnasium.Env[Any, Any]):
    """Walk to the house: the picture shows the courier, the radio tells where the house is. 16 steps a game."""

    observation_space = spaces.Dict(
        {"picture": spaces.Box(0, 255, (1, SIZE, SIZE), np.uint8), "radio": spaces.Box(-1, 1, (2,), np.float32)}
    )
    action_space = spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.at, self.house = self.np_random.uniform(-1, 1, (2, 2)).astype(np.float32)
        self.left = 16
        return self.shown(), {}

    def step(self, action: np.ndarray) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at = np.clip(self.at + 0.25 * action, -1, 1).astype(np.float32)
        self.left -= 1
        return self.shown(), -float(np.abs(self.at - self.house).mean()), self.left == 0, False, {}

    def shown(self) -> dict[str, np.ndarray]:
        picture = np.zeros((1, SIZE, SIZE), np.uint8)
        row, column = ((self.at + 1) / 2 * (SIZE - 1)).round().astype(int)
        picture[0, row, column] = 255
        return {"picture": picture, "radio": self.house}


class CourierNet(nn.Module):
    """Convolutions for the picture, a layer for the radio, and one last layer for the action head and the value."""

    def __init__(self, *, spec: GameSpec, outputs: int, channels: int = 8, hidden: int = 64) -> None:
        super().__init__()
        planes, height, width = spec.observation_parts["picture"].shape
        (told,) = spec.observation_parts["radio"].shape
        self.picture = nn.Sequential(nn.Conv2d(planes, channels, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.joined = nn.Linear(channels * height * width + told, hidden)
        self.heads = nn.Linear(hidden, outputs + 1)

    def forward(self, observations: dict[str, Tensor], legal: Tensor | None) -> tuple[Tensor, Tensor]:
        seen = self.picture(observations["picture"] / 255.0)
        hidden = torch.tanh(self.joined(torch.cat([seen, observations["radio"]], 1)))
        out = self.heads(hidden)
        return mask_logits(out[:, :-1], legal), out[:, -1]
