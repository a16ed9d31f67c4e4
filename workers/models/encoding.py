"""Observations as the float32 tensors that built-in models take.

A Box keeps its shape; bytes of an image become 0 to 1, except for checkpoints that learnt from 0 to 255. Discrete
numbers become one-hot. The parts of a Dict or Tuple are flattened and put side by side, in the order of the space.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from torch import Tensor, nn
from torch.nn.functional import one_hot

from workers.games.spaces import Part, observation_parts

Observed = Tensor | dict[str, Tensor]
"""Rows of observations: one tensor, or one for each part by its name."""


def to_tensors(observations: Any) -> Observed:
    """Arrays as tensors that share their memory."""
    if isinstance(observations, dict):
        return {name: torch.from_numpy(part) for name, part in observations.items()}
    return torch.from_numpy(observations)


def to_device(observed: Observed, device: torch.device) -> Observed:
    """The observations on this device."""
    if isinstance(observed, dict):
        return {name: part.to(device) for name, part in observed.items()}
    return observed.to(device)


def take_rows(observed: Observed, index: Tensor) -> Observed:
    """These rows, copied."""
    if isinstance(observed, dict):
        return {name: part.index_select(0, index) for name, part in observed.items()}
    return observed.index_select(0, index)


def first_part(observed: Observed) -> Tensor:
    """The first part, for its shape: all parts have the same rows."""
    return next(iter(observed.values())) if isinstance(observed, dict) else observed


def flatten_mates(observed: Observed) -> Observed:
    """Team steps [rows, mates, ...] as rows [rows * mates, ...]."""
    if isinstance(observed, dict):
        return {name: part.flatten(0, 1) for name, part in observed.items()}
    return observed.flatten(0, 1)


class Encoder(nn.Module):
    """Encodes rows of a space. It has no weights. Rows that are encoded already pass unchanged."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        super().__init__()
        self.parts = observation_parts(space)
        single = len(self.parts) == 1 and "" in self.parts
        self.shape = _encoded_shape(self.parts[""]) if single else (sum(map(_width, self.parts.values())),)
        """The shape of an encoded row."""
        self.needed = not single or not _is_plain(self.parts[""])
        """Whether rows are changed at all."""
        self.raw_images = False
        """Whether bytes of images stay 0 to 255: see `workers.models.contract.see_raw_images`."""

    def forward(self, observed: Observed) -> Tensor:
        if isinstance(observed, Tensor):
            return observed if observed.is_floating_point() else self._encoded("", observed)
        return torch.cat([self._encoded(name, observed[name]).flatten(1) for name in self.parts], 1)

    def _encoded(self, name: str, rows: Tensor) -> Tensor:
        part = self.parts[name]
        encoded = _encoded(part, rows)
        return encoded / 255.0 if part.is_image and not self.raw_images else encoded


def _is_plain(part: Part) -> bool:
    return part.dtype == np.float32 and isinstance(part.space, spaces.Box) and bool(part.shape)


def _counts(part: Part) -> list[int]:
    """How many values each number of a Discrete or MultiDiscrete part has."""
    if isinstance(part.space, spaces.Discrete):
        return [int(part.space.n)]
    if isinstance(part.space, spaces.MultiDiscrete):
        return [int(n) for n in part.space.nvec.reshape(-1)]
    return []


def _encoded_shape(part: Part) -> tuple[int, ...]:
    counts = _counts(part)
    return (sum(counts),) if counts else part.shape or (1,)


def _width(part: Part) -> int:
    return math.prod(_encoded_shape(part))


def _encoded(part: Part, rows: Tensor) -> Tensor:
    counts = _counts(part)
    if not counts:
        return rows.float().reshape(rows.shape[0], *(part.shape or (1,)))
    start = np.asarray(part.space.start).reshape(-1).tolist()  # type: ignore[attr-defined]
    flat = rows.reshape(rows.shape[0], -1).long()
    columns = [one_hot(flat[:, i] - start[i], count) for i, count in enumerate(counts)]
    return torch.cat(columns, 1).float()
