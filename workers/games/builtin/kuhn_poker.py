"""Kuhn poker: three cards, one each, one bet."""

from dataclasses import replace
from functools import cache
from itertools import permutations

import numpy as np

from workers.games.builtin.betting import Stage, build_tree
from workers.games.builtin.poker import Poker, TwoSeatPoker
from workers.games.protocol import GameSpec

PASS, BET = 0, 1


def _rules(stage: Stage) -> dict[int, Stage]:
    (moves,) = stage.path
    passed = replace(stage, path=((*moves, PASS),), mover=1 - stage.mover)
    paid = (2, stage.paid[1]) if stage.mover == 0 else (stage.paid[0], 2)
    bet = replace(stage, path=((*moves, BET),), mover=1 - stage.mover, paid=paid)
    if BET in moves:
        return {PASS: replace(passed, ended=True, folded=stage.mover), BET: replace(bet, ended=True)}
    return {PASS: replace(passed, ended=bool(moves)), BET: bet}


@cache
def _poker() -> Poker:
    deals = np.array(list(permutations(range(3))))
    return Poker(
        tree=build_tree(_rules, Stage(path=((),), mover=0, paid=(1, 1)), actions=2),
        deals=deals,
        gain=np.sign(deals[:, 0] - deals[:, 1]).astype(np.float32),
        ranks="JQK",
        suits=1,
        choices=(PASS, BET),
    )


class KuhnPoker(TwoSeatPoker):
    """Each seat antes 1 and holds one of three cards; one bet of 1 may be made and called."""

    def __init__(self, *, tables: int) -> None:
        poker = _poker()
        spec = GameSpec(
            id="kuhn_poker",
            seats=2,
            actions=2,
            observation_shape=poker.seen.shape[1:],
            hidden_information=True,
            chance=True,
            max_steps=3,
            action_names=("pass", "bet"),
            openspiel="kuhn_poker",
        )
        super().__init__(spec, tables, poker)
