"""Evaluations of positions for a search: by a policy's network, or uniform ones without a network."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from workers.games.spaces import Legal, Observations
from workers.inference.policy import Policy
from workers.models.contract import ILLEGAL
from workers.models.encoding import to_device, to_tensors
from workers.search.errors import BadSearch
from workers.search.search import Evaluate


def network(policy: Policy) -> Evaluate:
    """The policy's network; raises BadSearch for one that gives no logits of Discrete actions by itself."""
    plain = type(policy).sample is Policy.sample and policy.model_masks and not policy.placed
    if not plain or policy.state_size:
        raise BadSearch(
            "a search needs a network without a recurrent state that gives logits of actions and a value; "
            f"allowed: versions of ppo, alphazero and the like, not {type(policy).__name__}"
        )

    def evaluate(observations: Observations, legal: Legal) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        with torch.inference_mode():
            observed = to_device(to_tensors(observations), policy.device)
            mask = None if legal is None else torch.from_numpy(legal).to(policy.device)
            logits, values, _ = policy._computed(observed, mask, None, None)
            return logits.cpu().numpy(), values.cpu().numpy()

    return evaluate


def uniform_network(observations: Observations, legal: Legal) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Knows nothing: all legal actions alike, all values 0. The search then learns from the ends of games alone."""
    assert legal is not None
    return np.where(legal, np.float32(0.0), np.float32(ILLEGAL)), np.zeros(len(legal), np.float32)
