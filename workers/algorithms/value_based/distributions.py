"""Distributions of returns as a network's outputs: atoms of fixed values (C51), and quantiles of equal chances."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from workers.algorithms.targets.distributional import support


@dataclass(frozen=True)
class Atoms:
    """Outputs are logits of the atoms of each action, and with `dueling` those of the position's value at the end."""

    low: float
    high: float
    count: int
    dueling: bool

    def outputs(self, actions: int) -> int:
        """Numbers that a network returns for so many actions."""
        return (actions + self.dueling) * self.count

    def log_chances(self, outputs: Tensor) -> Tensor:
        """Log-probabilities of the atoms, [rows, actions, atoms]."""
        return torch.log_softmax(self.logits(outputs), 2)

    def logits(self, outputs: Tensor) -> Tensor:
        """Logits of the atoms, [rows, actions, atoms]: with `dueling` value + advantage - mean advantage."""
        parts = outputs.view(outputs.shape[0], -1, self.count)
        if not self.dueling:
            return parts
        advantages = parts[:, :-1]
        return advantages + (parts[:, -1:] - advantages.mean(1, keepdim=True))

    def gradient(self, logits: Tensor, taken: Tensor, actions: int) -> Tensor:
        """The gradient at the outputs, from that at the logits of the actions taken, [rows, atoms]."""
        rows = len(logits)
        found = torch.zeros(rows, actions + self.dueling, self.count, device=logits.device)
        if self.dueling:
            found[:, :-1] = logits.unsqueeze(1) / -actions
            found[:, -1] = logits
        return found.scatter_add_(1, self.places(taken), logits.unsqueeze(1)).view(rows, -1)

    def places(self, actions: Tensor) -> Tensor:
        """The index that gathers these actions, [rows, 1], from [rows, actions, atoms]."""
        return actions.unsqueeze(2).expand(-1, 1, self.count)

    def means(self, chances: Tensor) -> Tensor:
        """Mean returns from probabilities of atoms."""
        return chances @ support(self.low, self.high, self.count, chances.device)

    def __call__(self, outputs: Tensor) -> Tensor:
        return self.means(torch.softmax(self.logits(outputs), 2))


@dataclass(frozen=True)
class Quantiles:
    """Outputs are the quantiles of each action."""

    count: int

    def outputs(self, actions: int) -> int:
        """Numbers that a network returns for so many actions."""
        return actions * self.count

    def values(self, outputs: Tensor) -> Tensor:
        """[rows, actions, quantiles]"""
        return outputs.view(outputs.shape[0], -1, self.count)

    def __call__(self, outputs: Tensor) -> Tensor:
        return self.values(outputs).mean(2)
