"""A learnt temperature: the weight of the entropy."""

from __future__ import annotations

import math

import torch
from torch import nn


class Temperature(nn.Module):
    """A temperature above 0 that is learnt by its logarithm."""

    def __init__(self, start: float) -> None:
        super().__init__()
        self.log = nn.Parameter(torch.tensor([math.log(start)]))

    @property
    def value(self) -> float:
        """The temperature now."""
        return math.exp(float(self.log.detach()))
