"""The likelihood of recorded actions under a model, and how often the model would do the same."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from workers.buffers.contract import Batch
from workers.models.contract import head_of, run_model
from workers.models.heads import DiscreteHead, Head


def log_likelihood(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """[rows] each: the log-probability of the recorded action, the policy's entropy, the value."""
    outputs, values, _ = run_model(model, batch.obs, batch.legal)
    head = head_of(model)
    if head is None or isinstance(head, DiscreteHead):
        log_probs = torch.log_softmax(outputs.float(), 1)
        taken = log_probs.gather(1, batch["action"].unsqueeze(1)).squeeze(1)
        return taken, -(log_probs.exp() * log_probs).sum(1), values.float()
    outputs = outputs.float()
    return head.log_prob(outputs, batch["action"]), head.entropy(outputs), values.float()


def agreement(model: nn.Module, batch: Batch) -> dict[str, Tensor]:
    """`accuracy`: the share of rows in which the greedy action is the recorded one.

    Where actions have numbers that are not whole, `distance` instead: the mean absolute difference of those numbers, in
    halves of their range.
    """
    outputs, _, _ = run_model(model, batch.obs, batch.legal)
    head = head_of(model)
    greedy = outputs.argmax(1) if head is None else head.mode(outputs.float())
    recorded = batch["action"]
    if head is None or not head.layout.continuous:
        same = (greedy == recorded).reshape(len(recorded), -1).all(1)
        return {"accuracy": same.float().mean()}
    apart = (greedy - recorded).abs().reshape(len(recorded), -1)
    return {"distance": (apart / _half_range(head).to(apart.device)).mean()}


def _half_range(head: Head) -> Any:
    low, high = head.layout.bounds
    half = torch.from_numpy((high - low) / 2)
    return torch.where(torch.isfinite(half) & (half > 0), half, torch.ones(()))
