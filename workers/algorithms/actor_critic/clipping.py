"""The clipped surrogate of PPO: -min(r A, clip(r, 1 - clip, 1 + clip) A) with the ratio r = pi(a|s) / pi_old(a|s)."""

from __future__ import annotations

import torch
from torch import Tensor


def log_ratio(log_probs: Tensor, old_log_probs: Tensor) -> Tensor:
    """The logarithm of the ratio, bounded: one decision that has become e^88 times likelier would make the whole
    gradient NaN.
    """
    return (log_probs - old_log_probs).clamp_(-20.0, 20.0)


def unclipped(ratio: Tensor, advantages: Tensor, clip: float) -> Tensor:
    """Whether each row's ratio may still move in the direction of its advantage.

    The surrogate has no gradient where the ratio has already moved too far in that direction.
    """
    return torch.where(advantages >= 0, ratio <= 1.0 + clip, ratio >= 1.0 - clip)


def surrogate_gradient(ratio: Tensor, advantages: Tensor, free: Tensor, weight: Tensor | float) -> Tensor:
    """d loss / d log pi(a|s) of rows with this weight; overwrites `ratio`, and only `free` rows have a gradient."""
    return ratio.mul_(advantages).mul_(free).mul_(-weight)
