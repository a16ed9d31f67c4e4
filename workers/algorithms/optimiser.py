"""Adam over one flat tensor: clipping, all-reduce and the step are a few operations for any model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from workers.checkpoints import check_weights

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-5


def flatten(parameters: Sequence[nn.Parameter]) -> Tensor:
    """Make the parameters views of one flat tensor, which is returned."""
    flat = torch.cat([parameter.detach().reshape(-1) for parameter in parameters])
    for values, parameter in zip(torch.split(flat, [p.numel() for p in parameters]), parameters, strict=True):
        parameter.data = values.view_as(parameter)
    return flat


class FlatAdam:
    """Parameters and gradients as views of one flat tensor each, and Adam over them."""

    def __init__(self, modules: Sequence[nn.Module], *, learning_rate: float, gradient_clip: float = 0.0) -> None:
        """`gradient_clip` is the largest norm of a gradient; 0 for no limit."""
        self.learning_rate, self.gradient_clip = learning_rate, gradient_clip
        self._parameters = [p for module in modules for p in module.parameters() if p.requires_grad]
        sizes = [p.numel() for p in self._parameters]
        self.flat = flatten(self._parameters)
        self.gradient = torch.zeros_like(self.flat)
        self._views = [
            part.view_as(parameter)
            for part, parameter in zip(torch.split(self.gradient, sizes), self._parameters, strict=True)
        ]
        self._mean = torch.zeros_like(self.flat)
        self._square = torch.zeros_like(self.flat)
        self.updates = 0
        """Gradient steps taken."""
        self.collect()

    def to(self, device: torch.device) -> None:
        """Move parameters and moments to the device; `use` has to follow."""
        self.flat, self._mean, self._square = (part.to(device) for part in (self.flat, self._mean, self._square))
        sizes = [p.numel() for p in self._parameters]
        for values, parameter in zip(torch.split(self.flat, sizes), self._parameters, strict=True):
            parameter.grad = None  # the old gradient is on the old device
            parameter.data = values.view_as(parameter)

    def use(self, gradient: Tensor) -> None:
        """Keep the gradient in this tensor from now on: a part of what is all-reduced."""
        sizes = [p.numel() for p in self._parameters]
        self.gradient = gradient
        self._views = [
            part.view_as(parameter)
            for part, parameter in zip(torch.split(gradient, sizes), self._parameters, strict=True)
        ]
        for view, parameter in zip(self._views, self._parameters, strict=True):
            parameter.grad = view

    def part(self, net: nn.Module) -> Tensor | None:
        """The network's parameters as a part of `flat`; None where they are not there side by side."""
        wanted = list(net.parameters())
        places = {id(parameter): place for place, parameter in enumerate(self._parameters)}
        first = places.get(id(wanted[0]), 0) if wanted else 0
        if not wanted or [places.get(id(parameter)) for parameter in wanted] != [*range(first, first + len(wanted))]:
            return None
        start = sum(parameter.numel() for parameter in self._parameters[:first])
        return self.flat[start : start + sum(parameter.numel() for parameter in wanted)]

    def clear(self) -> None:
        """Set the gradient to zero."""
        self.collect()
        self.gradient.zero_()

    def collect(self) -> None:
        """Bring back gradients that `zero_grad()` of a model has detached from the flat tensor."""
        for view, parameter in zip(self._views, self._parameters, strict=True):
            found = parameter.grad
            if found is not view:
                if found is None:
                    view.zero_()
                else:
                    view.copy_(found)
                parameter.grad = view

    def step(self) -> None:
        """Apply the gradient."""
        if self.gradient_clip:
            self._clip()
        self.updates += 1
        self._mean.lerp_(self.gradient, 1.0 - _BETA1)
        self._square.mul_(_BETA2).addcmul_(self.gradient, self.gradient, value=1.0 - _BETA2)
        scale = (1.0 - _BETA2**self.updates) ** 0.5
        size = self.learning_rate * scale / (1.0 - _BETA1**self.updates)
        self.flat.addcdiv_(self._mean, self._square.sqrt().add_(_EPSILON * scale), value=-size)

    def _clip(self) -> None:
        norm = self.gradient.norm()
        if norm.device.type != "cpu":
            self.gradient.mul_((self.gradient_clip / (norm + 1e-6)).clamp_(max=1.0))
            return
        # the same operations on numpy's scalars, which are many times faster than tensors of one number
        factor = np.float32(1.0) / (np.float32(norm.item()) + np.float32(1e-6)) * np.float32(self.gradient_clip)
        if not factor >= 1.0:  # NaN too: it must reach the weights, where it is noticed
            self.gradient.mul_(float(factor))

    def state(self, *, share: bool = False) -> dict[str, Any]:
        """Adam's moments and the number of steps; with `share` the moments are no copies."""
        if share:
            return {"mean": self._mean, "square": self._square, "updates": self.updates}
        return {"mean": self._mean.cpu().clone(), "square": self._square.cpu().clone(), "updates": self.updates}

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore Adam's state; an empty state resets it."""
        if not state:
            self._mean.zero_()
            self._square.zero_()
            self.updates = 0
            return
        expected = {"mean": self._mean, "square": self._square}
        check_weights({name: state[name] for name in expected if name in state}, expected)
        self._mean.copy_(state["mean"])
        self._square.copy_(state["square"])
        self.updates = int(state["updates"])
