"""Inference of perceptrons for few rows by numpy, where a call of torch costs more than the computation.

See docs/decisions/remote-games.md.
"""

from __future__ import annotations

import math
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
_MOST_ROWS = 16
_ONE_THREAD = 2**18
"""Products of a matrix multiplication that OpenBLAS computes in the thread that asks."""
_FEW_ACTIONS = 64
"""Up to this many numbers plain Python is quicker than a dozen calls of numpy."""


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
        self.most_rows = min(_MOST_ROWS, _ONE_THREAD // max(weight.size for weight, _ in self._layers))
        """Up to this many rows it is quicker than torch. Beyond `_ONE_THREAD` OpenBLAS would wake up threads."""

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
        legal = rows.get("legal")
        count = len(rows["obs"])
        if count == 1 and self._actions <= _FEW_ACTIONS:
            out = self._outputs(rows["obs"].reshape(-1))
            allowed = None if legal is None else legal[0].tolist()
            action, log_prob = _choose_one(out[:-1].tolist(), allowed, None if draws is None else float(draws[0]))
            return {
                "action": np.array([action], np.int64),
                "log_prob": np.array([log_prob], np.float32),
                "value": out[-1:],
            }
        out = self._outputs(rows["obs"].reshape(count, -1))
        logits = out[:, : self._actions]
        if legal is not None:
            logits = np.where(legal, logits, np.float32(ILLEGAL))
        actions, log_probs = _choose(logits, draws)
        return {"action": actions, "log_prob": log_probs, "value": out[:, self._actions]}

    def _outputs(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits and the value, of a row or of several."""
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
        out: NDArray[np.float32] = hidden @ weight
        out += bias
        return out


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


def _choose_one(logits: list[float], legal: list[bool] | None, draw: float | None) -> tuple[int, float]:
    """The same for one row."""
    if legal is not None:
        logits = [logit if allowed else ILLEGAL for logit, allowed in zip(logits, legal, strict=True)]
    top = max(logits)
    weights = [math.exp(logit - top) for logit in logits]
    total = sum(weights)
    if not total < math.inf:
        raise ArithmeticError("the network returned numbers that are not finite")
    if draw is None:
        action = logits.index(top)
    else:
        rung, height, action = draw * BELOW_ONE * total, 0.0, -1
        while height <= rung:
            action += 1
            height += weights[action]
    return action, logits[action] - top - math.log(total)


def _array(tensor: Any) -> NDArray[np.float32]:
    return np.array(tensor.detach().cpu().numpy(), np.float32)
