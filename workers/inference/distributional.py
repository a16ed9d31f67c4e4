"""Acts by the mean of learnt distributions of returns, with or without noisy layers."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from workers.algorithms.exploration.noise import expand_draws, standard_normal
from workers.inference.actor import Columns, Rate
from workers.inference.greedy import EpsilonGreedy
from workers.models.noisy import noise_size, noisy_layers, set_noise


class Mean(Hashable, Protocol):
    """The mean return of each action, [rows, actions], from a network's outputs."""

    def __call__(self, outputs: Tensor) -> Tensor: ...


class DistributionalGreedy(EpsilonGreedy):
    """The action of the best mean, or with the chance `explore` any."""

    model_masks: ClassVar[bool] = False

    def __init__(self, model: nn.Module, mean: Mean) -> None:
        super().__init__(model)
        self._mean = mean

    @property
    def signature(self) -> Hashable:
        return self._mean

    def reduce(self, outputs: Tensor) -> Tensor:
        return self._mean(outputs)


class NoisyGreedy(DistributionalGreedy):
    """The action of the best mean; while it explores, each row's under noise of its own, which its draw decides."""

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: Rate = 0.0) -> Columns:
        noisy = draws is not None and bool(np.any(np.asarray(explore) > 0.0)) and bool(noisy_layers(self.model))
        if not noisy:
            return super().act(rows, draws)
        assert draws is not None
        normal = standard_normal(expand_draws(draws, noise_size(self.model)))
        set_noise(self.model, torch.from_numpy(normal).to(self.device))
        try:
            return super().act(rows, draws)
        finally:
            set_noise(self.model, None)
