"""COMA's baseline: A_i = Q(s, u) - sum_a pi_i(a) Q(s, (u_-i, a)), by Foerster et al., 2018."""

from __future__ import annotations

import torch
from torch import Tensor


def counterfactual_advantages(values: Tensor, probs: Tensor, actions: Tensor) -> Tensor:
    """How much better each action taken [...] is than the policy's mean over its actions, all else as it was.

    `values` and `probs` are [..., actions]: the value of each action of one mate while the others keep theirs.
    """
    taken: Tensor = values.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
    mean: Tensor = torch.linalg.vecdot(values, probs)
    return taken - mean
