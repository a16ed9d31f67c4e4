"""Many perceptrons of one shape as one grouped matmul."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from workers.games.spaces import Observations
from workers.inference.policy import Policy, PolicyOutput
from workers.models.contract import encode, mask_logits
from workers.models.encoding import to_tensors
from workers.models.heads import DiscreteHead, choose
from workers.models.mlp import ACTIVATIONS, Mlp


def groupable(policies: Sequence[Policy]) -> bool:
    """Whether these can run as one: all perceptrons of the same shape, with Discrete actions."""
    if not all(policy.head is None or isinstance(policy.head, DiscreteHead) for policy in policies):
        return False
    models = [policy.model for policy in policies]
    shapes = {
        (model.activation, *(tuple(p.shape) for p in model.parameters())) for model in models if type(model) is Mlp
    }
    return bool(models) and len(shapes) == 1 and all(type(model) is Mlp for model in models)


class PolicyGroup:
    """Perceptrons side by side. Rows come in equal blocks, the i-th block for the i-th policy."""

    state_size = 0

    def __init__(self, policies: Sequence[Policy]) -> None:
        models = [policy.model for policy in policies if isinstance(policy.model, Mlp)]
        if len(models) != len(policies) or not groupable(policies):
            raise ValueError("only perceptrons of one shape run as a group")
        self._blocks = len(models)
        self._first = models[0]
        self._actions = models[0].actions
        self._act = ACTIVATIONS[models[0].activation]
        with torch.no_grad():
            self._layers = [
                (
                    torch.stack([layer.weight.t() for layer in layers]).contiguous(),
                    torch.stack([layer.bias for layer in layers]).unsqueeze(1).contiguous(),
                )
                for layers in zip(*(model.linears() for model in models), strict=True)
            ]

    def decide(
        self,
        observations: Observations,
        legal: NDArray[np.bool_] | None,
        draws: NDArray[np.float32] | None,
        states: NDArray[np.float32] | None = None,
    ) -> PolicyOutput:
        """See `Decider`; the number of rows must be a multiple of the number of policies."""
        with torch.inference_mode():
            encoded: Tensor = encode(self._first, to_tensors(observations))
            rows = len(encoded)
            hidden = encoded.reshape(self._blocks, rows // self._blocks, -1)
            for weight, bias in self._layers[:-1]:
                hidden = self._act(torch.baddbmm(bias, hidden, weight))
            weight, bias = self._layers[-1]
            out = torch.baddbmm(bias, hidden, weight).reshape(rows, -1)
            logits = mask_logits(out[:, : self._actions], None if legal is None else torch.from_numpy(legal))
            actions, log_probs = choose(logits, draws)
            return PolicyOutput(actions.numpy(), log_probs.numpy(), out[:, self._actions].numpy())
