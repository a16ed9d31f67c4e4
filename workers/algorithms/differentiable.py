"""Forward passes over rows drawn from a buffer, and backward passes from the gradients at the outputs.

Perceptrons are differentiated by hand: at the small minibatches of off-policy learning autograd's overhead exceeds the
arithmetic. Any other network is differentiated by autograd. Outputs and value lie side by side, [rows, outputs + 1].

See docs/decisions/algorithms.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from workers.algorithms.learner import POLICY, Learner
from workers.algorithms.perceptron import backpropagate, hidden_layers
from workers.models.contract import encode, head_of
from workers.models.mlp import Mlp
from workers.models.noisy import NoisyLinear


class Differentiable(ABC):
    """One network: `record`, then `backward` with the gradient at what was recorded."""

    @abstractmethod
    def values(self, observed: Any, legal: Tensor | None) -> Tensor:
        """Outputs and value, without a gradient. Forbidden actions may be masked or not: mask what you use."""

    @abstractmethod
    def record(self, observed: Any, legal: Tensor | None) -> Tensor:
        """The same, detached; `backward` differentiates it."""

    @abstractmethod
    def record_both(
        self, observed: Any, legal: Tensor | None, later: Any, later_legal: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """`record` of the first rows and `values` of the later ones, in one pass where that is quicker."""

    @abstractmethod
    def backward(self, gradient: Tensor) -> None:
        """Set the optimiser's gradient from that at the recorded outputs, [rows, outputs + 1]."""


def differentiable(learner: Learner, net: str = POLICY, *, lagged: bool = False) -> Differentiable:
    """The learner's network of this name, or its lagged copy, for the time of one update."""
    model = learner.lagged(net) if lagged else learner.nets[net]
    if type(model) is Mlp and not learner.autocasts:
        return _Direct(model)
    return _Autograd(learner, model)


class _Direct(Differentiable):
    """A perceptron, by hand."""

    def __init__(self, model: Mlp) -> None:
        self._model = model
        linears = model.linears()
        self._weights = [layer.weight.detach() for layer in linears]
        self._biases = [layer.bias.detach() for layer in linears]
        self._gradients = [(layer.weight.grad, layer.bias.grad) for layer in linears]
        self._relu = model.activation == "relu"
        self._inputs: list[Tensor] = []
        self._noisy = [(depth, layer) for depth, layer in enumerate(linears) if isinstance(layer, NoisyLinear)]
        self._noise: list[tuple[int, NoisyLinear, Tensor, Tensor]] = []

    def values(self, observed: Any, legal: Tensor | None) -> Tensor:
        return self._forward(self._encoded(observed))[0]

    def record(self, observed: Any, legal: Tensor | None) -> Tensor:
        found, self._inputs = self._forward(self._encoded(observed))
        return found

    def record_both(
        self, observed: Any, legal: Tensor | None, later: Any, later_legal: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        now, then = self._encoded(observed), self._encoded(later)
        out, inputs = self._forward(torch.cat([now, then]))
        self._inputs = [layer[: len(now)] for layer in inputs]
        return out[: len(now)], out[len(now) :]

    def _encoded(self, observed: Any) -> Tensor:
        rows: Tensor = encode(self._model, observed)
        return rows.flatten(1)

    @torch.no_grad()
    def _forward(self, rows: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The outputs, and the inputs of every layer."""
        if self._noisy:
            self._add_noise()
        inputs = hidden_layers(rows, self._weights, self._biases, relu=self._relu)
        return torch.addmm(self._biases[-1], inputs[-1], self._weights[-1].t()), inputs

    @torch.no_grad()
    def backward(self, gradient: Tensor) -> None:
        backpropagate(gradient, self._inputs, self._weights, self._gradients, relu=self._relu)
        for depth, layer, weights, biases in self._noise:
            weight, bias = self._gradients[depth]
            assert weight is not None and bias is not None
            torch.mul(weight, weights, out=layer.weight_sigma.grad)
            torch.mul(bias, biases, out=layer.bias_sigma.grad)

    def _add_noise(self) -> None:
        """Use the weights of noisy layers with the noise that they have now."""
        self._noise = []
        for depth, layer in self._noisy:
            if layer.noise is None:
                raise ValueError("a noisy layer learns with noise: call set_noise first")
            entering, leaving = layer.noise
            outer = torch.outer(leaving, entering)
            self._noise.append((depth, layer, outer, leaving))
            self._weights[depth] = torch.addcmul(layer.weight.detach(), layer.weight_sigma.detach(), outer)
            self._biases[depth] = torch.addcmul(layer.bias.detach(), layer.bias_sigma.detach(), leaving)


class _Autograd(Differentiable):
    """Any network."""

    def __init__(self, learner: Learner, model: nn.Module) -> None:
        self._learner, self._model = learner, model
        self._masked = head_of(model) is not None
        """Only a network whose outputs are the action head's takes a mask."""

    def values(self, observed: Any, legal: Tensor | None) -> Tensor:
        with torch.no_grad():
            return self._run(observed, legal)

    def record(self, observed: Any, legal: Tensor | None) -> Tensor:
        self._recorded = self._run(observed, legal)
        return self._recorded.detach()

    def record_both(
        self, observed: Any, legal: Tensor | None, later: Any, later_legal: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        return self.record(observed, legal), self.values(later, later_legal)

    def backward(self, gradient: Tensor) -> None:
        for parameter in self._model.parameters():
            if parameter.grad is not None:
                parameter.grad.zero_()
        torch.autograd.backward((self._recorded,), (gradient,))

    def _run(self, observed: Any, legal: Tensor | None) -> Tensor:
        with self._learner.autocast():
            outputs, value = self._model(observed, legal if self._masked else None)
        return torch.cat([outputs.float(), value.float().unsqueeze(1)], 1)
