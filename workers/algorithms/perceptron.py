"""Forward and backward passes of a perceptron's layers by hand, without autograd's overhead."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

Gradients = Sequence[tuple[Tensor | None, Tensor | None]]
"""Where the gradients of each layer's weight and bias go."""


def hidden_layers(rows: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor], *, relu: bool) -> list[Tensor]:
    """The inputs of every layer, the last one's included: the rows, then each hidden layer's activations."""
    inputs = [rows]
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        rows = torch.addmm(bias, rows, weight.t())
        rows = rows.relu_() if relu else rows.tanh_()
        inputs.append(rows)
    return inputs


def backpropagate(
    error: Tensor, inputs: Sequence[Tensor], weights: Sequence[Tensor], gradients: Gradients, *, relu: bool
) -> None:
    """Write the gradients of all layers, from the gradient at the outputs [rows, outputs].

    The gradients may be of a wider type than that of the error, inputs and weights.
    """
    for depth in range(len(weights) - 1, -1, -1):
        weight, bias = gradients[depth]
        assert weight is not None and bias is not None, "every layer is trained"
        if weight.dtype == error.dtype:
            torch.mm(error.t(), inputs[depth], out=weight)
        else:
            weight.copy_(torch.mm(error.t(), inputs[depth]))
        torch.sum(error, 0, dtype=bias.dtype, out=bias)
        if depth:
            error = error @ weights[depth]
            if relu:
                error = torch.ops.aten.threshold_backward(error, inputs[depth], 0.0)
            else:
                error = torch.ops.aten.tanh_backward(error, inputs[depth])
