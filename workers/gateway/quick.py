"""Perceptrons at few rows by numpy: calling torch costs more than computing there.

Measured at one row of a 128 x 128 network: see docs/decisions/agents.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from workers.inference.actor import Columns
from workers.inference.policy import Policy
from workers.models.contract import ILLEGAL, encoder_of
from workers.models.draws import BELOW_ONE
from workers.models.heads import DiscreteHead
from workers.models.mlp import Mlp
from workers.models.normalised import Normalised

_WIDEST = 10.0


class QuickPerceptron:
    """Decides as `Policy.act` does for Discrete actions, except for rounding. It has a copy of the weights."""

    def __init__(self, policy: Policy) -> None:
        model = policy.model
        inner = model.inner if isinstance(model, Normalised) else model
        assert isinstance(inner, Mlp)
        self._actions = inner.actions
        self._tanh = inner.activation == "tanh"
        self._layers = [(_array(layer.weight).T.copy(), _array(layer.bias)) for layer in inner.linears()]
        self._mean: NDArray[np.float32] | None = None
        if isinstance(model, Normalised):
            self._mean, self._spread = _array(model.mean).reshape(-1), _array(model.spread).reshape(-1)

    @staticmethod
    def fits(actor: Any) -> bool:
        """Whether the actor is a perceptron that samples Discrete actions from observations of one float32 array."""
        if type(actor) is not Policy or actor.autocast is not None or actor.device.type != "cpu" or actor.state_size:
            return False
        if not isinstance(actor.head, DiscreteHead | None) or encoder_of(actor.model) is not None:
            return False
        model = actor.model.inner if isinstance(actor.model, Normalised) else actor.model
        return type(model) is Mlp and all(type(layer) is nn.Linear for layer in model.linears())

    def act(self, rows: Columns, draws: NDArray[np.float32] | None) -> dict[str, NDArray[Any]]:
        """See `Actor`."""
        hidden = rows["obs"].reshape(len(rows["obs"]), -1)
        if self._mean is not None:
            hidden = np.clip((hidden - self._mean) / self._spread, -_WIDEST, _WIDEST)
        for weight, bias in self._layers[:-1]:
            hidden = hidden @ weight
            hidden += bias
            if self._tanh:
                np.tanh(hidden, out=hidden)
            else:
                np.maximum(hidden, 0.0, out=hidden)
        weight, bias = self._layers[-1]
        out = hidden @ weight
        out += bias
        logits = out[:, : self._actions]
        legal = rows.get("legal")
        if legal is not None:
            logits = np.where(legal, logits, np.float32(ILLEGAL))
        actions, log_probs = _choose(logits, draws)
        return {"action": actions, "log_prob": log_probs, "value": out[:, self._actions]}


def _choose(
    logits: NDArray[np.float32], draws: NDArray[np.float32] | None
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """One action per row by inverting the distribution at `draws`, and its log-probability."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    ladder = np.exp(shifted).cumsum(axis=1)
    total = ladder[:, -1]
    if draws is None:
        actions = logits.argmax(axis=1)
    else:
        # "<=": a draw of 0 passes over leading actions of probability 0
        actions = (ladder <= (draws * np.float32(BELOW_ONE) * total)[:, None]).sum(axis=1)
    log_probs = shifted[np.arange(len(logits)), actions] - np.log(total)
    return actions, log_probs


def _array(tensor: Any) -> NDArray[np.float32]:
    return np.array(tensor.detach().cpu().numpy(), np.float32)
