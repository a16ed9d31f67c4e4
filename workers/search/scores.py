"""Scores of actions from their visits and values, by the Gumbel method and by PUCT.

Pure functions over arrays [actions, nodes] (Danihelka et al. 2022, "Policy improvement by planning with Gumbel";
Silver et al. 2018, "A general reinforcement learning algorithm ...").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_FEW_ACTIONS = 32


def mixed_value(priors: Floats, visits: Floats, q: Floats, value: Floats, total: Floats) -> Floats:
    """v_mix of the paper, [nodes]: the network's value, and the values of visited actions by their priors.

    v_mix = (v + N / sum_visited(p) * sum_visited(p q)) / (1 + N), with N visits in `total`.
    """
    known = priors * (visits > 0)
    share = known.sum(0)
    np.maximum(share, np.float32(1e-30), out=share)
    known *= q
    mixed: Floats = (value + total * (known.sum(0) / share)) / (total + np.float32(1.0))
    return mixed


def completed_scores(
    logits: Floats, priors: Floats, visits: Floats, totals: Floats, value: Floats, low: Floats, high: Floats,
    *, visit_offset: float, value_scale: float,
) -> tuple[Floats, Floats]:  # fmt: skip
    """logits + sigma(completed q), whose softmax is the improved policy; and all visits of each node.

    sigma(q) = (c_visit + max visits) * c_scale * q, with q scaled to 0..1 by the bounds of the tree; actions without a
    visit count as v_mix.
    """
    total = visits.sum(0)
    q: Floats = np.divide(totals, np.maximum(visits, np.float32(1.0)), dtype=np.float32)
    mixed = mixed_value(priors, visits, q, value, total)
    np.copyto(q, mixed, where=visits == 0)
    weight = (visits.max(0) + np.float32(visit_offset)) * np.float32(value_scale)
    weight /= _span(low, high)
    q -= low
    q *= weight
    q += logits
    return q, total


def next_by_improved_policy(scores: Floats, visits: Floats, total: Floats) -> NDArray[np.int64]:
    """The action whose share of the visits is the most behind its probability under the improved policy."""
    ahead = scores - scores.max(0)
    np.exp(ahead, out=ahead)
    ahead /= ahead.sum(0)
    ahead -= visits / (total + np.float32(1.0))
    return argmax(ahead)


def next_by_puct(
    priors: Floats, visits: Floats, totals: Floats, value: Floats, low: Floats, high: Floats, exploration: float
) -> NDArray[np.int64]:
    """argmax of q + c p sqrt(N) / (1 + n), q scaled to -1..1 by the bounds; actions without a visit count as v_mix."""
    total = visits.sum(0)
    q: Floats = np.divide(totals, np.maximum(visits, np.float32(1.0)), dtype=np.float32)
    np.copyto(q, mixed_value(priors, visits, q, value, total), where=visits == 0)
    q -= low
    q *= np.float32(2.0) / _span(low, high)
    bonus = priors * (np.float32(exploration) * np.sqrt(total + np.float32(1.0)))
    bonus /= visits + np.float32(1.0)
    bonus += q
    # a forbidden action has no prior; its q alone must not win
    bonus[priors <= 0.0] = -np.inf
    return argmax(bonus)


def _span(low: Floats, high: Floats) -> Floats:
    """The range of returns; 1 while only one return is known."""
    span: Floats = high - low
    span[span <= 0.0] = 1.0
    return span


def softmax(scores: Floats) -> Floats:
    """Over the first axis."""
    found: Floats = scores - scores.max(0)
    np.exp(found, out=found)
    found /= found.sum(0)
    return found


def argmax(scores: Floats) -> NDArray[np.int64]:
    """The first of the best, over the first axis; numpy's own is many times slower there while actions are few."""
    if len(scores) > _FEW_ACTIONS:
        return np.asarray(scores.argmax(0))
    best, most = np.zeros(scores.shape[1], np.int64), scores[0].copy()
    for action in range(1, len(scores)):
        np.copyto(best, action, where=scores[action] > most)
        np.maximum(most, scores[action], out=most)
    return best
