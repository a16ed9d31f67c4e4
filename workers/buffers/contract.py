"""The interface of a buffer, and what is drawn from one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from workers.inference.actor import Columns
from workers.rollout.batch import Experience

State = Mapping[str, Any]
"""Names to arrays or JSON values."""


class Batch(dict[str, Tensor]):
    """Columns as tensors: "obs", "action", "reward", "discount", "next/obs", and what else the actor returned."""

    @property
    def obs(self) -> Any:
        """The observations as a model takes them: one tensor, or a dict of the parts."""
        return self._part("obs")

    @property
    def legal(self) -> Tensor | None:
        """The masks of legal actions; None where actions have none."""
        return self.get("legal")

    @property
    def next_obs(self) -> Any:
        """The observations of the positions that follow; zeros where `discount` is 0."""
        return self._part("next/obs")

    @property
    def next_legal(self) -> Tensor | None:
        """The masks of the positions that follow."""
        return self.get("next/legal")

    def _part(self, name: str) -> Any:
        prefix = f"{name}/"
        parts = {key[len(prefix) :]: column for key, column in self.items() if key.startswith(prefix)}
        return parts or self[name]


@dataclass(frozen=True, kw_only=True)
class Draw:
    """Rows drawn from a buffer."""

    columns: Columns
    """"reward" is the sum of the discounted rewards up to the position "next/...", "discount" the weight of that
    position's value: a power of gamma, or 0 where the game ended."""
    ids: NDArray[np.int64]
    """What `feedback` names the rows by."""
    weights: NDArray[np.float32]
    """Weight of each row in the loss; 1 unless rows are drawn with unequal chances."""

    def __len__(self) -> int:
        return len(self.ids)

    def tensors(self, device: torch.device | None = None) -> Batch:
        """The columns as tensors."""
        found = {name: torch.from_numpy(np.ascontiguousarray(column)) for name, column in self.columns.items()}
        return Batch(found if device is None else {name: tensor.to(device) for name, tensor in found.items()})

    def weight_tensor(self, device: torch.device | None = None) -> Tensor:
        """The weights as a tensor."""
        return torch.from_numpy(self.weights).to(device)


class Buffer(ABC):
    """Takes experience as it is played, gives rows to learn from. A buffer belongs to one player."""

    remembers: bool = True
    """Whether it holds experience of earlier updates."""
    kept: bool = False
    """Whether its content is part of the checkpoint, so that a generation resumes exactly."""

    @property
    @abstractmethod
    def newest(self) -> Experience:
        """What was added last, valid until the second `add` from now."""

    @abstractmethod
    def add(self, new: Experience) -> None:
        """Take in experience, in the order in which it was played."""

    @abstractmethod
    def draw(self, rows: int, rng: np.random.Generator) -> Draw | None:
        """So many rows, or None while there are too few to learn from."""

    def feedback(self, ids: NDArray[np.int64], error: NDArray[np.float32]) -> None:  # noqa: B027
        """How much each drawn row surprised the learner; buffers without priorities ignore it."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return 0

    def bytes_when_full(self, like: Experience) -> int:
        """Bytes of memory that it will use when it is full of experience like this; 0 where that is not known."""
        return 0

    def state(self) -> State:
        """Everything that it holds; `load` restores it exactly."""
        return {}

    def load(self, state: State) -> None:  # noqa: B027
        """Restore what `state` gave."""
