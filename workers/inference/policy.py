"""Inference with one policy: actions, log-probabilities and values for rows of observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from workers.checkpoints import Checkpoint, check_weights
from workers.games.protocol import GameSpec
from workers.inference.actor import STATE, Columns
from workers.models.contract import build_model, state_size

_BELOW_ONE = 1.0 - 1e-6
"""Keeps a draw strictly below the last step of a float32 distribution."""


@dataclass(slots=True)
class PolicyOutput:
    """Actions, log-probabilities and values, one per row."""

    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]
    states: NDArray[np.float32] | None = None
    """The recurrent state after each row; None for models without one."""


class Decider(Protocol):
    """Chooses actions for rows: a policy, a group of policies, or a served policy."""

    state_size: int

    def decide(
        self,
        observations: NDArray[np.float32],
        legal: NDArray[np.bool_],
        draws: NDArray[np.float32] | None,
        states: NDArray[np.float32] | None = None,
    ) -> PolicyOutput:
        """One action per row: sampled with `draws` (uniform in [0, 1), one per row), or the best one for None."""


class Policy:
    """A model used for inference. Rows do not depend on each other, nor on the batching except for rounding."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.state_size = state_size(model)

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint, spec: GameSpec) -> Policy:
        """Rebuild the checkpoint's model for this game and load its weights."""
        model = build_model(checkpoint.model, spec)
        check_weights(checkpoint.weights, model.state_dict())
        model.load_state_dict(dict(checkpoint.weights))
        model.eval()
        return cls(model)

    @property
    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """See `Actor`."""
        return {STATE: (self.state_size,)} if self.state_size else {}

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: float = 0.0) -> Columns:
        """See `Actor`; an actor-critic policy explores by its own distribution."""
        decided = self.decide(rows["obs"], rows["legal"], draws, rows.get(STATE))
        columns: dict[str, NDArray[Any]] = {
            "action": decided.actions,
            "log_prob": decided.log_probs,
            "value": decided.values,
        }
        return columns if decided.states is None else {**columns, STATE: decided.states}

    @property
    def size(self) -> int:
        """Bytes of its weights."""
        return sum(tensor.nbytes for tensor in self.model.state_dict().values())

    def decide(
        self,
        observations: NDArray[np.float32],
        legal: NDArray[np.bool_],
        draws: NDArray[np.float32] | None,
        states: NDArray[np.float32] | None = None,
    ) -> PolicyOutput:
        """See `Decider`."""
        with torch.inference_mode():
            inputs = [torch.from_numpy(observations), torch.from_numpy(legal)]
            if self.state_size:
                before = np.zeros((len(legal), self.state_size), np.float32) if states is None else states
                inputs.append(torch.from_numpy(before))
            logits, values, *after = self.model(*inputs)
            actions, log_probs = choose(logits, draws)
            return PolicyOutput(actions.numpy(), log_probs.numpy(), values.numpy(), after[0].numpy() if after else None)


def choose(logits: Tensor, draws: NDArray[np.float32] | None) -> tuple[Tensor, Tensor]:
    """One action per row from masked logits, by inverting the distribution at `draws`, and its log-probability."""
    # [actions, rows]: torch is many times slower at a softmax over a short last axis.
    log_probs = torch.log_softmax(logits.t().contiguous(), 0)
    if draws is None:
        actions = logits.argmax(1)
    else:
        ladder = log_probs.exp().cumsum_(0)
        rungs = torch.from_numpy(draws * _BELOW_ONE).mul_(ladder[-1])
        # "<=": a draw of 0 passes over leading actions of probability 0.
        actions = (ladder <= rungs).sum(0)
    return actions, log_probs.gather(0, actions.unsqueeze(0)).squeeze(0)
