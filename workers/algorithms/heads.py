"""Gradients at the policy and value heads, in closed form: a few operations instead of autograd.

Everything per action is [actions, rows]: torch is up to twenty times slower at a softmax over a short last axis.

See docs/decisions/algorithms.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(slots=True)
class PolicyTerms:
    """Quantities of a policy computed from masked logits."""

    probs: Tensor
    """[actions, rows]"""
    weighted: Tensor
    """[actions, rows]: probability times its logarithm."""
    taken: Tensor
    """[rows]: log-probability of the action taken."""
    entropy: Tensor
    """[rows]"""


def policy_terms(logits: Tensor, actions: Tensor) -> PolicyTerms:
    """From logits [actions, rows] and the actions taken [1, rows]."""
    log_probs = torch.log_softmax(logits, 0)
    probs = log_probs.exp()
    taken = log_probs.gather(0, actions).squeeze(0)
    weighted = log_probs.mul_(probs)
    return PolicyTerms(probs, weighted, taken, weighted.sum(0).neg_())


def logit_gradient(terms: PolicyTerms, actions: Tensor, dloss_dlogp: Tensor, entropy_weight: float) -> Tensor:
    """d/dlogits of a loss with d loss / d log p(action) = `dloss_dlogp` [rows], minus `entropy_weight` * entropy a row.

    d log p(a) / d logit_j = [j = a] - p_j, and d entropy / d logit_j = -p_j (log p_j + entropy).
    """
    gradient = terms.weighted.addcmul_(terms.probs, terms.entropy).mul_(entropy_weight)
    gradient.addcmul_(terms.probs, dloss_dlogp, value=-1.0)
    return gradient.scatter_add_(0, actions, dloss_dlogp.unsqueeze(0))


def value_gradient(values: Tensor, returns: Tensor, old_values: Tensor, clip: float) -> Tensor:
    """d/dvalue of half the squared error; with `clip` > 0 of the larger of it and the clipped one's."""
    error = values - returns
    if not clip:
        return error
    moved = values - old_values
    clipped_error = old_values + moved.clamp(-clip, clip) - returns
    # Where the clipped error is the larger, it is constant in the value: the gradient is 0.
    return error.mul_((moved.abs() <= clip) | (error.abs() >= clipped_error.abs()))
