"""Makes the head of an action space; that of a Dict or Tuple is composed of the heads of its parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor

from workers.games.spaces import ActionLayout
from workers.models.box_heads import BetaHead, BoxHead, GaussianHead, SquashedHead
from workers.models.heads import BadHead, DiscreteHead, Head, MultiBinaryHead, MultiDiscreteHead


class CompositeHead(Head):
    """The parts of a Dict or Tuple, each by its own head."""

    def __init__(self, layout: ActionLayout, box: BoxHead) -> None:
        self._parts = [(make_head(part, box), columns) for part, columns in layout.slices()]
        super().__init__(layout, sum(head.size for head, _ in self._parts))

    def _outputs(self, outputs: Tensor) -> Any:
        sizes = [head.size for head, _ in self._parts]
        return ((head, at, part) for (head, at), part in zip(self._parts, torch.split(outputs, sizes, 1), strict=True))

    def _join(self, parts: list[Tensor]) -> Tensor:
        return torch.cat([part.reshape(part.shape[0], -1).float() for part in parts], 1)

    def draw(self, outputs: Tensor, draws: Tensor) -> Tensor:
        return self._join([head.draw(part, _for(head, draws[:, at])) for head, at, part in self._outputs(outputs)])

    def mode(self, outputs: Tensor) -> Tensor:
        return self._join([head.mode(part) for head, _, part in self._outputs(outputs)])

    def log_prob(self, outputs: Tensor, actions: Tensor) -> Tensor:
        return torch.stack(
            [head.log_prob(part, _for(head, actions[:, at], typed=True)) for head, at, part in self._outputs(outputs)]
        ).sum(0)

    def entropy(self, outputs: Tensor) -> Tensor:
        return torch.stack([head.entropy(part) for head, _, part in self._outputs(outputs)]).sum(0)

    def divergence(self, outputs: Tensor, other: Tensor) -> Tensor:
        both = zip(self._outputs(outputs), self._outputs(other), strict=True)
        return torch.stack([head.divergence(part, that) for (head, _, part), (_, _, that) in both]).sum(0)


def make_head(layout: ActionLayout, box: BoxHead = "gaussian") -> Head:
    """The head of an action space; `box` is the distribution of its Boxes."""
    if layout.parts:
        return CompositeHead(layout, box)
    match layout.space:
        case spaces.Discrete():
            return DiscreteHead(layout)
        case spaces.MultiDiscrete():
            return MultiDiscreteHead(layout)
        case spaces.MultiBinary():
            return MultiBinaryHead(layout)
    kinds = {"gaussian": GaussianHead, "squashed": SquashedHead, "beta": BetaHead}
    if box not in kinds:
        raise BadHead(f"head must be one of {', '.join(kinds)}, not {box!r}")
    head = kinds[box](layout)
    if box != "gaussian" and not head.bounded:
        raise BadHead(f"head {box!r} needs a Box with finite bounds, not {layout.space}; allowed: gaussian")
    return head


def _for(head: Head, columns: Tensor, typed: bool = False) -> Tensor:
    """Columns of a composite as the part's own head takes them."""
    if isinstance(head.layout.space, spaces.Discrete):
        columns = columns[:, 0]
    return columns.to(torch.from_numpy(np.zeros(0, head.layout.dtype)).dtype) if typed else columns
