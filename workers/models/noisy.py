"""Noisy linear layers (Fortunato et al., 2018): weights explore instead of random actions.

y = (W + S * (out in^T)) x + b + s * out, where S and s are learnt and `in` and `out` are noise: sign(n) sqrt(|n|) of
normal numbers n, one for each input and output. Without noise the layer is an ordinary one.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


class NoisyLinear(nn.Linear):
    """A linear layer with learnt noise. The names of its means are those of a linear layer."""

    def __init__(self, mean: nn.Linear, sigma: float) -> None:
        super().__init__(mean.in_features, mean.out_features)
        with torch.no_grad():
            self.weight.copy_(mean.weight)
            self.bias.copy_(mean.bias)
        scale = sigma / mean.in_features**0.5
        self.weight_sigma = nn.Parameter(torch.full_like(self.weight, scale))
        self.bias_sigma = nn.Parameter(torch.full_like(self.bias, scale))
        self.noise: tuple[Tensor, Tensor] | None = None
        """Noise of the inputs and of the outputs, the same for all rows or [rows, ...]; None for none."""

    def forward(self, rows: Tensor) -> Tensor:
        found = linear(rows, self.weight, self.bias)
        if self.noise is None:
            return found
        entering, leaving = self.noise
        return found + linear(rows * entering, self.weight_sigma, self.bias_sigma) * leaving


def make_noisy(model: nn.Module, sigma: float) -> int:
    """Put noisy layers in the place of all linear ones but the first, or of a single one; returns how many."""
    places = [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if type(child) is nn.Linear and child.bias is not None
    ]
    chosen = places[1:] or places
    for parent, name, child in chosen:
        setattr(parent, name, NoisyLinear(child, sigma))
    return len(chosen)


def noisy_layers(model: nn.Module) -> list[NoisyLinear]:
    """The noisy layers of a model, in order."""
    return [layer for layer in model.modules() if isinstance(layer, NoisyLinear)]


def noise_size(model: nn.Module) -> int:
    """Normal numbers that `set_noise` takes."""
    return sum(layer.in_features + layer.out_features for layer in noisy_layers(model))


def set_noise(model: nn.Module, normal: Tensor | None) -> None:
    """Give all layers noise made of these normal numbers, [size] or [rows, size]; None takes it away."""
    if normal is None:
        for layer in noisy_layers(model):
            layer.noise = None
        return
    shaped = normal.sign() * normal.abs().sqrt()
    layers = noisy_layers(model)
    sizes = [size for layer in layers for size in (layer.in_features, layer.out_features)]
    parts = iter(torch.split(shaped, sizes, -1))
    for layer in layers:
        layer.noise = next(parts), next(parts)
