"""Acts by the softmax of action values over a learnt temperature."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from workers.inference.policy import Policy
from workers.models.temperature import Temperature


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
