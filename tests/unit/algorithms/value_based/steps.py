"""A gradient step's rows, made up; and one generation of an algorithm in this process."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from workers.algorithms.value_based.learning import Step
from workers.buffers.contract import Batch


@dataclass(frozen=True)
class Rows:
    """What the slow references read: a few rows with masks, some of them the last of their game."""

    batch: Batch
    now: Tensor
    later: Tensor
    lagged: Tensor

    @property
    def step(self) -> Step:
        return Step(self.batch, self.now, self.later, self.lagged)


def rows(outputs: int, actions: int, seed: int = 0, count: int = 12, masked: bool = True) -> Rows:
    draw = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=draw) * 2

    legal = torch.rand(count, actions, generator=draw) < 0.6
    action = torch.randint(actions, (count,), generator=draw)
    legal[torch.arange(count), action] = True
    following = torch.rand(count, actions, generator=draw) < 0.6
    following[:, 1] = True
    ended = torch.rand(count, generator=draw) < 0.25
    following[ended] = False  # after the end of a game
    columns: dict[str, Any] = {
        "action": action,
        "reward": normal(count),
        "discount": torch.where(ended, 0.0, 0.9),
        "weight": torch.rand(count, generator=draw),
    }
    if masked:
        columns |= {"legal": legal, "next/legal": following}
    return Rows(Batch(columns), normal(count, outputs + 1), normal(count, outputs + 1), normal(count, outputs + 1))


def legal_actions(mask: Tensor | None, row: int, actions: int) -> list[int]:
    return [a for a in range(actions) if mask is None or bool(mask[row, a])]
