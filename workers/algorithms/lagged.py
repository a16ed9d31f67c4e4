"""Lagged copies of networks (target networks), which follow what they copy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from workers.algorithms.optimiser import FlatAdam, flatten


@dataclass
class Lagged:
    """A lagged copy (target network) of a network."""

    of: str
    module: nn.Module
    tau: float
    every: int
    flat: Tensor | None = None
    """Its parameters as one tensor, and those of the network that it follows; None where the latter are apart."""
    followed: Tensor | None = None
    has_buffers: bool = True
    """Whether there is anything beside parameters to copy: to look is slow, and this is asked at every step."""

    def lay_out(self, net: nn.Module, optimisers: Iterable[FlatAdam]) -> None:
        """Find the network's parameters in an optimiser's flat tensor, and lay the copy's out alike."""
        self.flat = None
        self.has_buffers = next(self.module.buffers(), None) is not None
        found = (optimiser.part(net) for optimiser in optimisers)
        self.followed = next((part for part in found if part is not None), None)
        if self.followed is not None:
            self.flat = flatten(list(self.module.parameters()))

    @torch.no_grad()
    def follow(self, net: nn.Module, tau: float) -> None:
        """Move the copy towards the network by the share `tau`; buffers are copied."""
        if self.flat is not None and self.followed is not None:
            self.flat.lerp_(self.followed, tau) if tau < 1.0 else self.flat.copy_(self.followed)
        else:
            for mine, theirs in zip(self.module.parameters(), net.parameters(), strict=True):
                mine.lerp_(theirs, tau) if tau < 1.0 else mine.copy_(theirs)
        if self.has_buffers:
            for buffer, newer in zip(self.module.buffers(), net.buffers(), strict=True):
                buffer.copy_(newer)
