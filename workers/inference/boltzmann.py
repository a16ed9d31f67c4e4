"""Acts by the softmax of action values over a learnt temperature."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from workers.inference.policy import Policy


class Temperature(nn.Module):
    """A temperature above 0 that is learnt by its logarithm."""

    def __init__(self, start: float) -> None:
        super().__init__()
        self.log = nn.Parameter(torch.tensor([math.log(start)]))

    @property
    def value(self) -> float:
        """The temperature now."""
        return math.exp(float(self.log.detach()))


class Boltzmann(Policy):
    """Takes a model's logits for action values: p(a) is in proportion to exp(Q(a) / temperature)."""

    def __init__(self, model: nn.Module, temperature: Temperature) -> None:
        super().__init__(model)
        self._temperature = temperature

    @property
    def signature(self) -> Hashable:
        return self._temperature.value

    def sample(self, outputs: Tensor, draws: NDArray[np.float32] | None) -> tuple[Tensor, Tensor]:
        return super().sample(outputs / self._temperature.value, draws)
