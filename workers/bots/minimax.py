"""Minimax for tic-tac-toe: every position is solved once, then a decision is a table lookup."""

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from workers.bots.fixed_strategies import draw
from workers.bots.protocol import BadBot, Bot, BotInput
from workers.games.builtin.tic_tac_toe import HAS_LINE
from workers.games.protocol import GameSpec
from workers.games.seeding import mix, uniform

_FULL = 0b111_111_111
_POWERS = 3 ** np.arange(9)


@cache
def value(mine: int, theirs: int) -> int:
    """What perfect play is worth to the mover: 1 a win, 0 a draw, -1 a loss."""
    if HAS_LINE[theirs]:
        return -1
    if mine | theirs == _FULL:
        return 0
    return max(-value(theirs, mine | 1 << cell) for cell in _free(mine, theirs))


def _free(mine: int, theirs: int) -> list[int]:
    return [cell for cell in range(9) if not (mine | theirs) >> cell & 1]


@cache
def _best_moves() -> NDArray[np.bool_]:
    """[3**9, 9]: the best moves of every position, numbered in base 3 (own stones 1, others' 2)."""
    best = np.zeros((3**9, 9), np.bool_)
    waiting, seen = [(0, 0)], {(0, 0)}
    while waiting:
        mine, theirs = waiting.pop()
        if HAS_LINE[theirs]:
            continue
        for cell in _free(mine, theirs):
            after = (theirs, mine | 1 << cell)
            best[_code(mine, theirs), cell] = -value(*after) == value(mine, theirs)
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return best


def _code(mine: int, theirs: int) -> int:
    return sum(3**cell * ((mine >> cell & 1) + 2 * (theirs >> cell & 1)) for cell in range(9))


class MinimaxBot(Bot):
    """Plays a best move of tic-tac-toe: the first by number, or any of them at random.

    With `skill` below 1 it plays a best move only with that probability, else any legal one: an
    opponent of graded strength.
    """

    def __init__(self, spec: GameSpec, *, ties: Literal["first", "random"] = "first", skill: float = 1.0) -> None:
        super().__init__(spec)
        if spec.openspiel != "tic_tac_toe":
            raise BadBot(f"minimax plays tic_tac_toe only, not {spec.id}")
        if not 0 <= skill <= 1:
            raise BadBot(f"minimax: the probability of a best move is between 0 and 1, not {skill}")
        self.ties, self.skill = ties, skill
        self._best = _best_moves()

    def act(self, inputs: BotInput) -> NDArray[np.int64]:
        best = self._best[self._codes(inputs)]
        slips = uniform(mix(inputs.keys, 1)) >= self.skill
        choices = np.where(slips[:, None], inputs.legal, best)
        anyhow = draw(choices.astype(np.float64), inputs.keys)
        return anyhow if self.ties == "random" else np.where(slips, anyhow, np.argmax(best, axis=1))

    def _codes(self, inputs: BotInput) -> NDArray[np.int64]:
        planes = inputs.observations.reshape(len(inputs.observations), -1, 9).astype(np.int64)
        if planes.shape[1] == 2:
            mine, theirs = planes[:, 0], planes[:, 1]
        else:
            # OpenSpiel's planes are the empty cells, the noughts of seat 1 and the crosses of seat 0.
            rows = np.arange(len(planes))
            mine, theirs = planes[rows, 2 - inputs.seats], planes[rows, 1 + inputs.seats]
        return np.asarray((mine + 2 * theirs) @ _POWERS)
