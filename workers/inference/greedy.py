"""Acts by the best value, or at random: for algorithms that learn the values of actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from workers.algorithms.exploration.discrete import epsilon_greedy
from workers.inference.actor import STATE, Columns, Rate
from workers.inference.policy import Policy
from workers.models.contract import BadModel
from workers.models.heads import DiscreteHead


class EpsilonGreedy(Policy):
    """Takes a model's logits for the values of Discrete actions: the best one, or with the chance `explore` any."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model)
        if not isinstance(self.head, DiscreteHead | None):
            raise BadModel("the best of all actions can be taken of Discrete actions only")

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: Rate = 0.0) -> Columns:
        decided = dict(super().act(rows, None))
        if draws is not None:
            decided["action"] = epsilon_greedy(decided["action"], self._actions, rows.get("legal"), draws, explore)
        return {name: decided[name] for name in ("action", STATE) if name in decided}

    def sample(self, outputs: Tensor, draws: Any) -> tuple[Tensor, Tensor]:
        """The best action, whatever the draws, and its value in the place of a log-probability."""
        self._actions = outputs.shape[1]
        best = outputs.max(1)
        return best.indices, best.values
