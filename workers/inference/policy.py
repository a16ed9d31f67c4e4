"""Inference with one policy: actions, log-probabilities and values for rows of observations."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from orchestrator.catalog import Component
from workers.checkpoints import Checkpoint, check_weights
from workers.games.protocol import GameSpec
from workers.games.spaces import Observations, from_columns
from workers.inference.actor import STATE, Columns, Rate
from workers.models.contract import build_model, head_of, mask_logits, run_model, see_raw_images, state_size
from workers.models.encoding import Observed, to_device, to_tensors
from workers.models.heads import DiscreteHead, Head, choose


@dataclass(slots=True)
class PolicyOutput:
    """Actions, log-probabilities and values, one per row."""

    actions: NDArray[Any]
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]
    states: NDArray[np.float32] | None = None
    """The recurrent state after each row; None for models without one."""


@dataclass(slots=True)
class Places:
    """Where rows are: the table and the seat of each."""

    tables: NDArray[np.int64]
    seats: NDArray[np.int64]


class Decider(Protocol):
    """Chooses actions for rows: a policy, a group of policies, or a served policy."""

    state_size: int

    def decide(
        self,
        observations: Observations,
        legal: NDArray[np.bool_] | None,
        draws: NDArray[np.float32] | None,
        states: NDArray[np.float32] | None = None,
    ) -> PolicyOutput:
        """One action per row: sampled with `draws` (uniform in [0, 1), one per row, or one for each number of an
        action), or the best one for None.
        """


class Policy:
    """A model used for inference. Rows do not depend on each other, nor on the batching except for rounding."""

    placed: bool = False
    """Whether it must know the table and the seat of each row; rows of mates may then depend on each other."""
    model_masks: ClassVar[bool] = True
    """Whether the model takes the mask of legal actions; else it is applied to what `reduce` returns."""

    def __init__(self, model: nn.Module, component: Component | None = None) -> None:
        """`component` names what made the model: policies of one component can run as a group."""
        self.model = model
        self.component = component
        self.device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
        self.state_size = state_size(model)
        self.autocast: torch.dtype | None = None
        """The type in which the model computes; None for that of its weights."""
        self.head: Head | None = head_of(model)
        """The distribution of actions; None means logits of Discrete actions."""
        self._discrete = self.head is None or type(self.head) is DiscreteHead

    @classmethod
    def from_checkpoint(cls, checkpoint: Checkpoint, spec: GameSpec) -> Policy:
        """Rebuild the checkpoint's model for this game and load its weights."""
        model = build_model(checkpoint.model, spec)
        check_weights(checkpoint.weights, model.state_dict())
        model.load_state_dict(dict(checkpoint.weights))
        see_raw_images(model, checkpoint.raw_images)
        model.eval()
        return cls(model, checkpoint.model)

    @property
    def signature(self) -> Hashable:
        """What `reduce` and `sample` depend on beside the model: only policies of equal signature run as a group."""
        return None

    @property
    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """See `Actor`."""
        return {STATE: (self.state_size,)} if self.state_size else {}

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: Rate = 0.0) -> Columns:
        """See `Actor`; an actor-critic policy explores by its own distribution."""
        places = Places(rows["table"], rows["seat"]) if self.placed else None
        decided = self.decide(from_columns(rows), rows.get("legal"), draws, rows.get(STATE), places)
        columns: dict[str, NDArray[Any]] = {
            "action": decided.actions,
            "log_prob": decided.log_probs,
            "value": decided.values,
        }
        return columns if decided.states is None else {**columns, STATE: decided.states}

    def to(self, device: torch.device) -> Policy:
        """This policy, with its model on the device."""
        self.model.to(device)
        self.device = device
        return self

    @property
    def size(self) -> int:
        """Bytes of its weights."""
        return sum(tensor.nbytes for tensor in self.model.state_dict().values())

    def decide(
        self,
        observations: Observations,
        legal: NDArray[np.bool_] | None,
        draws: NDArray[np.float32] | None,
        states: NDArray[np.float32] | None = None,
        places: Places | None = None,
    ) -> PolicyOutput:
        """See `Decider`; `places` are needed if it is `placed`."""
        with torch.inference_mode():
            before = None if states is None else torch.from_numpy(states).to(self.device)
            observed = to_device(to_tensors(observations), self.device)
            if before is None and self.state_size:
                rows = len(next(iter(observed.values())) if isinstance(observed, dict) else observed)
                before = torch.zeros(rows, self.state_size, device=self.device)
            mask = None if legal is None else torch.from_numpy(legal).to(self.device)
            outputs, values, after = self._computed(observed, mask if self.model_masks else None, before, places)
            if not self.model_masks:
                outputs = mask_logits(self.reduce(outputs), mask)
            actions, log_probs = self.sample(outputs, draws)
            decided = (actions, log_probs, values) if after is None else (actions, log_probs, values, after)
            return PolicyOutput(*(part.cpu().numpy() for part in decided))

    def _computed(
        self, observed: Observed, legal: Tensor | None, state: Tensor | None, places: Places | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """What `run` gives, computed in the type `autocast`."""
        if self.autocast is None:
            return self.run(observed, legal, state, places)
        with torch.autocast(self.device.type, dtype=self.autocast):
            outputs, values, after = self.run(observed, legal, state, places)
        return outputs.float(), values.float(), None if after is None else after.float()

    def run(
        self, observed: Observed, legal: Tensor | None, state: Tensor | None, places: Places | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Outputs, values and the next state of a recurrent model."""
        if not self.state_size:  # a fast path: `run_model` reads it from the model each time
            return *self.model(observed, legal), None
        return run_model(self.model, observed, legal, state)

    def reduce(self, outputs: Tensor) -> Tensor:
        """The numbers that `sample` takes, [rows, actions], where a model has others; see `model_masks`."""
        return outputs

    def sample(self, outputs: Tensor, draws: NDArray[np.float32] | None) -> tuple[Tensor, Tensor]:
        """Actions and their log-probabilities from the model's outputs; see `Decider` for `draws`."""
        if self._discrete:
            return choose(outputs, draws)
        assert self.head is not None
        return self.head.sample(outputs, None if draws is None else torch.from_numpy(draws).to(outputs.device))


def decide_placed(
    decider: Decider,
    observations: Observations,
    legal: NDArray[np.bool_] | None,
    draws: NDArray[np.float32] | None,
    states: NDArray[np.float32] | None,
    places: Places,
) -> PolicyOutput:
    """Decide rows of a game; a policy that is `placed` gets their tables and seats too."""
    if isinstance(decider, Policy) and decider.placed:
        return decider.decide(observations, legal, draws, states, places)
    return decider.decide(observations, legal, draws, states)
