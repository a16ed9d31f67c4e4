"""A betting tree, precomputed: a step of all tables is one array lookup."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Stage:
    """A point of the betting between two seats: who moves, what each has paid, and how it ended."""

    path: tuple[tuple[int, ...], ...]
    """The actions so far, round by round."""
    mover: int
    paid: tuple[int, int]
    ended: bool = False
    folded: int | None = None
    """The seat that folded; None at a showdown."""


Rules = Callable[[Stage], dict[int, Stage]]
"""The legal actions at a stage and where each leads."""


@dataclass(frozen=True)
class BettingTree:
    """All stages as arrays: the playable ones first, then the ended ones."""

    stages: list[Stage]
    playable: int
    child: NDArray[np.int64]
    """[playable, actions], the stage each action leads to; -1 where it is illegal."""
    mover: NDArray[np.int64]
    round: NDArray[np.int64]
    fold_gain: NDArray[np.float32]
    """What seat 0 gains by a fold (negative when it folded itself); 0 at other stages."""
    stake: NDArray[np.float32]
    """What the loser of a showdown pays; 0 at other stages."""
    legal: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "legal", self.child >= 0)


def build_tree(rules: Rules, root: Stage, actions: int) -> BettingTree:
    """Walk the rules from the root, breadth first, and number every stage."""
    playable: list[Stage] = [root]
    ended: list[Stage] = []
    for stage in playable:
        for after in rules(stage).values():
            (ended if after.ended else playable).append(after)
    stages = playable + ended
    number = {stage: i for i, stage in enumerate(stages)}
    child = np.full((len(playable), actions), -1, np.int64)
    for i, stage in enumerate(playable):
        for action, after in rules(stage).items():
            child[i, action] = number[after]
    return BettingTree(
        stages=stages,
        playable=len(playable),
        child=child,
        mover=np.array([stage.mover for stage in stages], np.int64),
        round=np.array([len(stage.path) - 1 for stage in stages], np.int64),
        fold_gain=np.array([_fold_gain(stage) for stage in stages], np.float32),
        stake=np.array(
            [min(stage.paid) if stage.ended and stage.folded is None else 0 for stage in stages], np.float32
        ),
    )


def _fold_gain(stage: Stage) -> int:
    if stage.folded is None:
        return 0
    return -stage.paid[0] if stage.folded == 0 else stage.paid[1]
