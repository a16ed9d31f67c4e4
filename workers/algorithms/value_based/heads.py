"""Action values from a network's outputs, and the gradient of a DQN's loss at them.

Networks return outputs and value side by side, [rows, actions + 1]: see `workers.algorithms.differentiable`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from workers.models.contract import mask_logits


def action_values(out: Tensor, legal: Tensor | None, dueling: bool) -> Tensor:
    """Q(s, a), [rows, actions]: the outputs, or V(s) + A(s, a) - mean of A over the legal actions (Wang et al., 2016).

    Values of forbidden actions mean nothing.
    """
    outputs = out[:, :-1]
    if not dueling:
        return outputs
    return outputs + (out[:, -1:] - _legal_mean(outputs, legal))


def best_actions(values: Tensor, legal: Tensor | None) -> Tensor:
    """The best legal action of each row, [rows, 1]; any where no action is legal."""
    return mask_logits(values, legal).argmax(1, keepdim=True)


def action_value_gradient(slope: Tensor, taken: Tensor, legal: Tensor | None, actions: int, dueling: bool) -> Tensor:
    """The gradient at a network's outputs, [rows, actions + 1], from d loss / d Q(s, taken); `taken` is [rows, 1]."""
    gradient = torch.zeros(len(slope), actions + 1, device=slope.device)
    column = slope.unsqueeze(1)
    if dueling:
        # dQ(taken) / dA(j) = [j = taken] - 1 / legal actions, dQ / dV = 1
        if legal is None:
            gradient[:, :-1] = column / -actions
        else:
            torch.mul(legal, column / -legal.sum(1, keepdim=True), out=gradient[:, :-1])
        gradient[:, -1] = slope
    return gradient.scatter_add_(1, taken, column)


def _legal_mean(outputs: Tensor, legal: Tensor | None) -> Tensor:
    if legal is None:
        return outputs.mean(1, keepdim=True)
    # after the end of a game no action is legal
    return torch.where(legal, outputs, 0.0).sum(1, keepdim=True) / legal.sum(1, keepdim=True).clamp(min=1)
