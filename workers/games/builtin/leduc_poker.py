"""Leduc poker: six cards of three ranks, a private and a public card, two rounds of betting."""

from dataclasses import replace
from functools import cache
from itertools import permutations

import numpy as np

from workers.games.builtin.betting import Stage, build_tree
from workers.games.builtin.poker import Poker, TwoSeatPoker
from workers.games.protocol import GameSpec

FOLD, CALL, RAISE = 0, 1, 2
RAISES_PER_ROUND = 2
RAISE_BY = (2, 4)


def _rules(stage: Stage) -> dict[int, Stage]:
    moves, now, high = stage.path[-1], len(stage.path) - 1, max(stage.paid)
    after: dict[int, Stage] = {}
    if stage.paid[stage.mover] < high:
        after[FOLD] = replace(_then(stage, FOLD, stage.paid[stage.mover]), ended=True, folded=stage.mover)
    called = _then(stage, CALL, high)
    if not moves:
        after[CALL] = called
    elif now == 0:
        after[CALL] = replace(called, path=(*called.path, ()), mover=0)
    else:
        after[CALL] = replace(called, ended=True)
    if moves.count(RAISE) < RAISES_PER_ROUND:
        after[RAISE] = _then(stage, RAISE, high + RAISE_BY[now])
    return after


def _then(stage: Stage, action: int, pays: int) -> Stage:
    """The stage after this action of the mover, who has then paid `pays` in total; the other seat is next."""
    paid = (pays, stage.paid[1]) if stage.mover == 0 else (stage.paid[0], pays)
    path = (*stage.path[:-1], (*stage.path[-1], action))
    return replace(stage, path=path, mover=1 - stage.mover, paid=paid)


@cache
def _poker() -> Poker:
    deals = np.array(list(permutations(range(6), 3)))
    ranks = deals // 2
    # A pair with the public card beats any single rank; equal ranks split the pot.
    strength = np.where(ranks[:, :2] == ranks[:, 2:], 3, ranks[:, :2])
    return Poker(
        tree=build_tree(_rules, Stage(path=((),), mover=0, paid=(1, 1)), actions=3),
        deals=deals,
        gain=np.sign(strength[:, 0] - strength[:, 1]).astype(np.float32),
        ranks="JQK",
        suits=2,
        choices=(CALL, RAISE),
    )


class LeducPoker(TwoSeatPoker):
    """Each seat antes 1; raises are by 2 and then by 4, at most two in a round."""

    def __init__(self, *, tables: int) -> None:
        poker = _poker()
        spec = GameSpec(
            id="leduc_poker",
            seats=2,
            actions=3,
            observation_shape=poker.seen.shape[1:],
            hidden_information=True,
            chance=True,
            max_steps=8,
            action_names=("fold", "call", "raise"),
            openspiel="leduc_poker",
        )
        super().__init__(spec, tables, poker)
