"""Acts within the bounds of Box actions: for algorithms that learn the values of such actions."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from workers.algorithms.exploration.noise import gaussian, ornstein_uhlenbeck
from workers.games.spaces import from_columns
from workers.inference.actor import STATE, Columns, Rate
from workers.inference.policy import Policy
from workers.models.box_heads import SquashedHead
from workers.models.contract import BadModel

Noise = Literal["gaussian", "ornstein_uhlenbeck"]
NOISE = f"{STATE}/noise"
"""The column of a noise that depends on the one before it."""


class SquashedPolicy(Policy):
    """A Gaussian before a tanh onto the bounds; its learner needs the actions alone."""

    head: SquashedHead

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model)
        if not isinstance(self.head, SquashedHead):
            raise BadModel("actions within bounds need a model with the head squashed")

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: Rate = 0.0) -> Columns:
        return {"action": self.decide(from_columns(rows), rows.get("legal"), draws).actions}


class DeterministicPolicy(SquashedPolicy):
    """The mean of the same Gaussian, through the same tanh: one action for each observation, and noise on top of it.

    `explore` is the scale of the noise in units of half the range. It is `gaussian`, or `ornstein_uhlenbeck`, whose
    state is a column of its own.
    """

    def __init__(self, model: nn.Module, noise: Noise = "gaussian") -> None:
        super().__init__(model)
        self._remembers = noise == "ornstein_uhlenbeck"
        layout = self.head.layout
        self._low, self._high = layout.bounds
        self._half = (self._high - self._low) / 2

    @property
    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """See `Actor`: the noise's own state."""
        return {NOISE: (self.head.layout.width,)} if self._remembers else {}

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: Rate = 0.0) -> Columns:
        found = dict(super().act(rows, None))
        scale = np.asarray(explore, np.float32).reshape(-1, 1)
        if draws is None or not scale.any():
            return found | {name: rows[name] for name in self.state_shapes}
        noise = gaussian(draws, scale)
        if self._remembers:
            noise = found[NOISE] = ornstein_uhlenbeck(rows[NOISE], draws, scale)
        actions = found["action"].reshape(noise.shape) + noise * self._half
        found["action"] = np.clip(actions, self._low, self._high).reshape(found["action"].shape)
        return found

    def sample(self, outputs: Tensor, draws: Any) -> tuple[Tensor, Tensor]:
        """The action, whatever the draws; it has no density."""
        return self.head.mode(outputs), outputs.new_zeros(outputs.shape[0])
