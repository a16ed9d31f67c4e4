"""Forward and backward passes of a network, with gradients of its weights or of its actions, for closed-form losses.

Perceptrons are differentiated by hand, several of one shape as one batch of matrix products; autograd differentiates
all other modules. See docs/decisions/algorithms.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from workers.algorithms.learner import Learner
from workers.models.encoding import Observed
from workers.models.mlp import Mlp

Run = Callable[[Observed, Tensor | None], Tensor]
"""Observations and, for critics, actions [rows, numbers] -> outputs [networks, rows, outputs]."""


class Pass(ABC):
    """Networks that see the same rows: `forward`, then `backward` or `action_gradient` from the gradient at the output.

    Outputs are [networks, rows, outputs], detached. Critics see actions too, [rows, numbers].
    """

    direct: bool
    """Whether `backward` overwrites gradients; if not it adds to them, and they must be cleared before."""

    @abstractmethod
    def output(self, observed: Observed, actions: Tensor | None = None) -> Tensor:
        """The outputs alone."""

    @abstractmethod
    def forward(self, observed: Observed, actions: Tensor | None = None) -> Tensor:
        """The outputs; keeps what the backward pass needs."""

    @abstractmethod
    def backward(self, gradient: Tensor) -> None:
        """Set the gradients of the parameters from the gradient at the outputs of the last `forward`."""

    @abstractmethod
    def action_gradient(self, gradient: Tensor) -> Tensor:
        """The gradient at the actions; those of the parameters stay as they are."""


class DirectPass(Pass):
    """Perceptrons of one shape. Weights are [networks, outputs, inputs], biases [networks, 1, outputs]."""

    direct = True

    def __init__(self, weights: Sequence[Tensor], biases: Sequence[Tensor], activation: str) -> None:
        self._relu = activation == "relu"
        self._weights = [weight.detach() for weight in weights]
        self._turned = [weight.transpose(1, 2) for weight in self._weights]
        self._biases = [bias.detach() for bias in biases]
        self._gradients: list[tuple[Tensor, Tensor]] = []
        self._kept: list[Tensor] = []

    @classmethod
    def of(cls, model: Mlp, outputs: int) -> DirectPass:
        """The first `outputs` outputs of one perceptron."""
        linears = model.linears()
        rows = [*(layer.out_features for layer in linears[:-1]), outputs]
        made = cls(
            [layer.weight[:count].unsqueeze(0) for layer, count in zip(linears, rows, strict=True)],
            [layer.bias[:count].view(1, 1, -1) for layer, count in zip(linears, rows, strict=True)],
            model.activation,
        )
        grads = [(layer.weight.grad, layer.bias.grad) for layer in linears]
        made._gradients = [
            (weight[:count].unsqueeze(0), bias[:count].view(1, 1, -1))
            for (weight, bias), count in zip(grads, rows, strict=True)
            if weight is not None and bias is not None
        ]
        return made

    @classmethod
    def of_stack(cls, weights: Sequence[nn.Parameter], biases: Sequence[nn.Parameter], activation: str) -> DirectPass:
        """Perceptrons whose parameters are stacked already."""
        made = cls(weights, biases, activation)
        made._gradients = [
            (weight.grad, bias.grad)
            for weight, bias in zip(weights, biases, strict=True)
            if weight.grad is not None and bias.grad is not None
        ]
        return made

    def output(self, observed: Observed, actions: Tensor | None = None) -> Tensor:
        kept, found = self._kept, self.forward(observed, actions)
        self._kept = kept
        return found

    @torch.no_grad()
    def forward(self, observed: Observed, actions: Tensor | None = None) -> Tensor:
        assert isinstance(observed, Tensor)
        rows = observed.flatten(1)
        if actions is not None:
            rows, self._numbers = torch.cat((rows, actions), 1), actions.shape[1]
        layer = rows.expand(len(self._weights[0]), *rows.shape)
        self._kept = [layer]
        for weight, bias in zip(self._turned[:-1], self._biases[:-1], strict=True):
            layer = torch.baddbmm(bias, layer, weight)
            layer = layer.relu_() if self._relu else layer.tanh_()
            self._kept.append(layer)
        return torch.baddbmm(self._biases[-1], layer, self._turned[-1])

    @torch.no_grad()
    def backward(self, gradient: Tensor) -> None:
        for depth in range(len(self._weights) - 1, -1, -1):
            weight, bias = self._gradients[depth]
            kept = self._kept[depth]
            if weight.shape[2] < weight.shape[1]:
                # transposed product: many times faster for the few inputs of a first layer
                weight.copy_(torch.bmm(kept.transpose(1, 2), gradient).transpose(1, 2))
            else:
                torch.bmm(gradient.transpose(1, 2), kept, out=weight)
            torch.sum(gradient, 1, keepdim=True, out=bias)
            if depth:
                gradient = self._below(gradient, depth)

    @torch.no_grad()
    def action_gradient(self, gradient: Tensor) -> Tensor:
        for depth in range(len(self._weights) - 1, 0, -1):
            gradient = self._below(gradient, depth)
        return torch.bmm(gradient, self._weights[0][:, :, -self._numbers :]).sum(0)

    def _below(self, gradient: Tensor, depth: int) -> Tensor:
        """The gradient at the outputs of the layer below, before its activation."""
        gradient = torch.bmm(gradient, self._weights[depth])
        backward = torch.ops.aten.threshold_backward if self._relu else torch.ops.aten.tanh_backward
        found: Tensor = backward(gradient, self._kept[depth], *((0.0,) if self._relu else ()))
        return found


class AutogradPass(Pass):
    """Any networks, by autograd."""

    direct = False

    def __init__(self, learner: Learner, run: Run) -> None:
        self._learner, self._run = learner, run

    @torch.no_grad()
    def output(self, observed: Observed, actions: Tensor | None = None) -> Tensor:
        with self._learner.autocast():
            return self._run(observed, actions).float()

    @torch.enable_grad()
    def forward(self, observed: Observed, actions: Tensor | None = None) -> Tensor:
        self._actions = None if actions is None else actions.detach().requires_grad_()
        with self._learner.autocast():
            self._outputs = self._run(observed, self._actions).float()
        return self._outputs.detach()

    def backward(self, gradient: Tensor) -> None:
        torch.autograd.backward(self._outputs, gradient)

    def action_gradient(self, gradient: Tensor) -> Tensor:
        assert self._actions is not None, "a critic's pass"
        (found,) = torch.autograd.grad(self._outputs, self._actions, gradient)
        return found
