"""A residual convolution net for boards, laid out for CPUs: channels last, fused layers, no batch norm."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, linear

from workers.models.contract import mask_logits

Inference = Callable[[Tensor, Tensor | None], tuple[Tensor, Tensor]]
"""Encoded observations and a mask in, logits and values out, as a model's `forward`."""
_ONE = [1, 1]
_ONE_DNN = bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
_Layer = tuple[Tensor, Tensor, list[int]]
"""Weights, biases and padding of a convolution."""


class ConvRes(nn.Module):
    """Residual 3x3 convolutions over (planes, height, width), a 1x1 one that narrows them, one dense layer, both heads.

    Rows never depend on each other. `inference` computes the same much faster, from a copy of the present weights.
    """

    def __init__(
        self,
        *,
        observation_shape: tuple[int, ...],
        actions: int,
        channels: int = 32,
        blocks: int = 2,
        narrow: int = 8,
        hidden: int = 128,
    ) -> None:
        super().__init__()
        if len(observation_shape) != 3:
            raise ValueError(f"needs observations of (planes, height, width), this game's are {observation_shape}")
        for name, count in (("channels", channels), ("blocks", blocks), ("narrow", narrow), ("hidden", hidden)):
            if count < 1:
                raise ValueError(f"{name} must be at least 1, not {count}")
        planes, height, width = observation_shape
        self.actions = actions
        self.stem = nn.Conv2d(planes, channels, 3, padding=1)
        self.blocks = nn.ModuleList(_Block(channels) for _ in range(blocks))
        self.narrow = nn.Conv2d(channels, narrow, 1)
        self.dense = nn.Linear(narrow * height * width, hidden)
        self.heads = nn.Linear(hidden, actions + 1)
        with torch.no_grad():
            # near-uniform play at the start
            self.heads.weight[:actions] *= 0.01

    def forward(self, observations: Tensor, legal: Tensor | None) -> tuple[Tensor, Tensor]:
        planes = observations.contiguous(memory_format=torch.channels_last)
        planes = torch.relu(self.stem(planes))
        for block in self.blocks:
            planes = block(planes)
        planes = torch.relu(self.narrow(planes))
        # channels last: flattened without a copy
        out = self.heads(torch.relu(self.dense(planes.permute(0, 2, 3, 1).flatten(1))))
        return mask_logits(out[:, : self.actions], legal), out[:, self.actions]

    def inference(self, kind: torch.dtype = torch.float32) -> Inference:
        """The network as it is now, for the CPU and in this type: convolution, bias and relu in one pass."""
        return _Fused(self, kind)


class _Block(nn.Module):
    """x + f(x) with two convolutions."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        nn.init.zeros_(self.second.weight)

    def forward(self, planes: Tensor) -> Tensor:
        return torch.relu(planes + self.second(torch.relu(self.first(planes))))


class _Fused:
    """A copy of a network's weights, in the layout and type in which they are multiplied."""

    def __init__(self, model: ConvRes, kind: torch.dtype) -> None:
        self._actions, self._kind = model.actions, kind
        with torch.no_grad():
            self._stem = _packed(model.stem, kind)
            self._blocks = [(_packed(block.first, kind), _packed(block.second, kind)) for block in model.blocks]
            self._narrow = _packed(model.narrow, kind)
            self._dense = [part.detach().to(kind) for part in (model.dense.weight, model.dense.bias)]
            self._heads = [part.detach().to(kind) for part in (model.heads.weight, model.heads.bias)]

    def __call__(self, observations: Tensor, legal: Tensor | None) -> tuple[Tensor, Tensor]:
        planes = observations.to(self._kind, memory_format=torch.channels_last)
        planes = _relu_of(planes, self._stem)
        for first, second in self._blocks:
            planes = _relu_of_sum(planes, _relu_of(planes, first), second)
        planes = _relu_of(planes, self._narrow)
        hidden = torch.relu_(linear(planes.permute(0, 2, 3, 1).flatten(1), *self._dense))
        out = linear(hidden, *self._heads).float()
        return mask_logits(out[:, : self._actions], legal), out[:, self._actions]


def _packed(layer: object, kind: torch.dtype) -> _Layer:
    assert isinstance(layer, nn.Conv2d) and layer.bias is not None and isinstance(layer.padding, tuple)
    weight = layer.weight.detach().to(kind, memory_format=torch.channels_last)
    return weight, layer.bias.detach().to(kind), list(layer.padding)


# oneDNN adds the bias, the residual and the relu while it writes a convolution's result. Torch has no public call for
# it: these operators are those that its compiler uses. Where a build lacks oneDNN, three passes do the same.


def _relu_of(planes: Tensor, layer: _Layer) -> Tensor:
    weight, bias, padding = layer
    if not _ONE_DNN:
        return torch.relu_(conv2d(planes, weight, bias, padding=padding))
    fused: Tensor = torch.ops.mkldnn._convolution_pointwise(
        planes, weight, bias, padding, _ONE, _ONE, 1, "relu", [], ""
    )
    return fused


def _relu_of_sum(added: Tensor, planes: Tensor, layer: _Layer) -> Tensor:
    """relu(added + convolution of planes)"""
    weight, bias, padding = layer
    if not _ONE_DNN:
        return torch.relu_(conv2d(planes, weight, bias, padding=padding).add_(added))
    fused: Tensor = torch.ops.mkldnn._convolution_pointwise.binary(
        planes, added, weight, bias, padding, _ONE, _ONE, 1, "add", 1.0, "relu", [], ""
    )
    return fused
