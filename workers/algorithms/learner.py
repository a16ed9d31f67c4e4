"""A model being trained: its parameters and gradients as one flat tensor each, and Adam over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from workers.checkpoints import check_weights

Reduce = Callable[[Tensor], None]
"""Averages a tensor over all training processes, in place."""

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-5


class Learner:
    """A model with flat parameters and gradients: clipping, all-reduce and Adam are a few operations for any model."""

    def __init__(self, model: nn.Module, reduce: Reduce | None = None) -> None:
        self.model = model
        self._reduce = reduce
        parameters = [p for p in model.parameters() if p.requires_grad]
        sizes = [p.numel() for p in parameters]
        self.flat = torch.cat([p.detach().reshape(-1) for p in parameters])
        # The last element is the reduced scalar: one number that is all-reduced together with the gradients.
        self._reduced = torch.zeros(len(self.flat) + 1)
        self.gradient = self._reduced[:-1]
        views = zip(torch.split(self.flat, sizes), torch.split(self.gradient, sizes), parameters, strict=True)
        for values, gradients, parameter in views:
            parameter.data = values.view_as(parameter)
            parameter.grad = gradients.view_as(parameter)
        self._mean = torch.zeros_like(self.flat)
        self._square = torch.zeros_like(self.flat)
        self._updates = 0

    @torch.no_grad()
    def step(self, learning_rate: float, gradient_clip: float, reduced_scalar: float = 0.0) -> float:
        """All-reduce and apply the gradients; returns `reduced_scalar` averaged over all processes."""
        if self._reduce is not None:
            self._reduced[-1] = reduced_scalar
            self._reduce(self._reduced)
            reduced_scalar = float(self._reduced[-1])
        if gradient_clip:
            norm = self.gradient.norm()
            self.gradient.mul_((gradient_clip / (norm + 1e-6)).clamp_(max=1.0))
        self._updates += 1
        self._mean.lerp_(self.gradient, 1.0 - _BETA1)
        self._square.mul_(_BETA2).addcmul_(self.gradient, self.gradient, value=1.0 - _BETA2)
        scale = (1.0 - _BETA2**self._updates) ** 0.5
        size = learning_rate * scale / (1.0 - _BETA1**self._updates)
        self.flat.addcdiv_(self._mean, self._square.sqrt().add_(_EPSILON * scale), value=-size)
        return reduced_scalar

    def weights(self) -> dict[str, Tensor]:
        """A copy of the model's weights and buffers."""
        return {name: tensor.detach().clone() for name, tensor in self.model.state_dict().items()}

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Put these weights into the model, and so into the flat tensor."""
        check_weights(weights, self.model.state_dict())
        self.model.load_state_dict(dict(weights))

    def optimizer_state(self) -> dict[str, Any]:
        return {"mean": self._mean.clone(), "square": self._square.clone(), "updates": self._updates}

    def load_optimizer(self, state: Mapping[str, Any]) -> None:
        """Restore Adam's state; an empty state resets it."""
        if not state:
            self._mean.zero_()
            self._square.zero_()
            self._updates = 0
            return
        expected = {"mean": self._mean, "square": self._square}
        check_weights({name: state[name] for name in expected if name in state}, expected)
        self._mean.copy_(state["mean"])
        self._square.copy_(state["square"])
        self._updates = int(state["updates"])
