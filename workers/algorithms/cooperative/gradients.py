"""The gradient of one minibatch of team steps, with the means of its metrics."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from workers.algorithms.metrics import MinibatchMeans


class TeamGradients(NamedTuple):
    """Outputs of the networks, the gradients of the loss at them, and the minibatch's metrics."""

    outputs: tuple[Tensor, ...]
    gradients: tuple[Tensor, ...]
    means: MinibatchMeans

    def backward(self) -> None:
        """Add the gradient to that of the weights."""
        torch.autograd.backward(self.outputs, self.gradients)
