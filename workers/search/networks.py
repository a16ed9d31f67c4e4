"""Evaluations of positions for a search: by a policy's network, or uniform ones without a network."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from workers.games.spaces import Legal, Observations
from workers.inference.policy import Policy
from workers.models.contract import ILLEGAL, encode
from workers.models.convres import ConvRes, Inference
from workers.models.encoding import Observed, first_part, to_device, to_tensors
from workers.search.errors import BadSearch

Precision = Literal["auto", "f32", "bf16"]
"""The type in which a network is computed; auto: bf16 where the model has a fast form and the CPU multiplies in it."""
_FEW_ROWS = 8
"""Below this many rows a model's own `forward` is quicker than its fast form."""


class Network:
    """A policy's network as the judge of positions."""

    def __init__(self, policy: Policy, precision: Precision = "f32") -> None:
        """Raises BadSearch for a policy that gives no logits of Discrete actions by itself."""
        plain = type(policy).sample is Policy.sample and policy.model_masks and not policy.placed
        if not plain or policy.state_size:
            raise BadSearch(
                "a search needs a network without a recurrent state that gives logits of actions and a value; "
                f"allowed: versions of ppo, alphazero and the like, not {type(policy).__name__}"
            )
        self._policy = policy
        fast = isinstance(policy.model, ConvRes) and policy.device.type == "cpu"
        self._kind = torch.bfloat16 if precision == "bf16" or (precision == "auto" and fast and _has_bf16()) else None
        self._fast: Inference | None = None
        if fast:
            self.renew()

    def renew(self) -> None:
        """Use the weights that the policy has now: a fast form is a copy of them."""
        if isinstance(self._policy.model, ConvRes) and self._policy.device.type == "cpu":
            self._fast = self._policy.model.inference(self._kind or torch.float32)

    def __call__(self, observations: Observations, legal: Legal) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        with torch.inference_mode():
            observed = to_device(to_tensors(observations), self._policy.device)
            mask = None if legal is None else torch.from_numpy(legal).to(self._policy.device)
            logits, values = self._computed(observed, mask)
            return logits.cpu().numpy(), values.cpu().numpy()

    def _computed(self, observed: Observed, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        if self._fast is not None and len(first_part(observed)) >= _FEW_ROWS:
            return self._fast(encode(self._policy.model, observed), mask)
        if self._kind is None or self._fast is not None:
            logits, values, _ = self._policy._computed(observed, mask, None, None)
            return logits, values
        with torch.autocast(self._policy.device.type, dtype=self._kind):
            logits, values, _ = self._policy.run(observed, mask, None, None)
        return logits.float(), values.float()


def network(policy: Policy, precision: Precision = "f32") -> Network:
    """The policy's network; raises BadSearch for one that gives no logits of Discrete actions by itself."""
    return Network(policy, precision)


def _has_bf16() -> bool:
    """Whether this CPU multiplies matrices of bfloat16."""
    found = torch.cpu.get_capabilities()
    return bool(found.get("avx512_bf16") or found.get("amx_bf16"))


def uniform_network(observations: Observations, legal: Legal) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Knows nothing: all legal actions alike, all values 0. The search then learns from the ends of games alone."""
    assert legal is not None
    return np.where(legal, np.float32(0.0), np.float32(ILLEGAL)), np.zeros(len(legal), np.float32)
