"""Gradients at the policy and value heads: in closed form for Discrete actions and values, else by autograd.

Everything per action is [actions, rows]: torch is up to twenty times slower at a softmax over a short last axis.

See docs/decisions/algorithms.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from workers.models.heads import DiscreteHead, Head


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
    actions: Tensor
    """[1, rows]"""

    def gradient(self, dloss_dlogp: Tensor, entropy_weight: float) -> Tensor:
        """See `logit_gradient`."""
        return logit_gradient(self, self.actions, dloss_dlogp, entropy_weight)

    def divergence(self, other: Tensor) -> tuple[Tensor, Tensor]:
        """KL divergence [rows] to the policy with these masked logits, and its gradient; call before `gradient`.

        d KL(p, q) / d logit_j = p_j (log p_j - log q_j - KL(p, q)).
        """
        apart = self.weighted - self.probs * torch.log_softmax(other, 0)
        divergence = apart.sum(0)
        return divergence, apart.addcmul_(self.probs, divergence, value=-1.0)


@dataclass(slots=True)
class HeadTerms:
    """The same quantities of any other action head, whose gradient autograd finds."""

    head: Head
    outputs: Tensor
    """[rows, size], a leaf of the graph below."""
    taken: Tensor
    entropy: Tensor
    log_prob_graph: Tensor
    entropy_graph: Tensor

    def gradient(self, dloss_dlogp: Tensor, entropy_weight: float) -> Tensor:
        """d/doutputs of the same loss as in `logit_gradient`."""
        with torch.enable_grad():
            loss = torch.dot(self.log_prob_graph, dloss_dlogp) - entropy_weight * self.entropy_graph.sum()
        (found,) = torch.autograd.grad(loss, self.outputs)
        return found.t()

    def divergence(self, other: Tensor) -> tuple[Tensor, Tensor]:
        """See `PolicyTerms.divergence`; `other` is [size, rows]."""
        with torch.enable_grad():
            divergence = self.head.divergence(self.outputs, other.t())
            (found,) = torch.autograd.grad(divergence.sum(), self.outputs)
        return divergence.detach(), found.t()


def head_terms(head: Head | None, outputs: Tensor, actions: Tensor) -> PolicyTerms | HeadTerms:
    """From a model's outputs [size, rows] and the actions taken [rows, ...]; no head means Discrete actions."""
    if head is None or isinstance(head, DiscreteHead):
        return policy_terms(outputs, actions.unsqueeze(0))
    with torch.enable_grad():
        leaf = outputs.detach().t().contiguous().requires_grad_()
        log_prob, entropy = head.log_prob(leaf, actions), head.entropy(leaf)
    return HeadTerms(head, leaf, log_prob.detach(), entropy.detach(), log_prob, entropy)


def policy_terms(logits: Tensor, actions: Tensor) -> PolicyTerms:
    """From logits [actions, rows] and the actions taken [1, rows]."""
    log_probs = torch.log_softmax(logits, 0)
    probs = log_probs.exp()
    taken = log_probs.gather(0, actions).squeeze(0)
    weighted = log_probs.mul_(probs)
    return PolicyTerms(probs, weighted, taken, weighted.sum(0).neg_(), actions)


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
