"""A scripted soccer player: it chases the ball and runs for the goal."""

import numpy as np
from numpy.typing import NDArray

from workers.bots.protocol import BadBot, Bot, BotInput
from workers.games.builtin.soccer import COLUMNS, NAMES, ROWS, SQUARES
from workers.games.protocol import GameSpec

_STAY, _FORWARD, _BACK, _LEFT, _RIGHT, _PASS = range(len(NAMES))


class StrikerBot(Bot):
    """With the ball it runs for the goal and around opponents; without it, to the ball or along with its mate."""

    def __init__(self, spec: GameSpec) -> None:
        super().__init__(spec)
        if spec.id != "soccer":
            raise BadBot(f"soccer-striker: it plays soccer, not {spec.id}")

    def act(self, inputs: BotInput) -> NDArray[np.int64]:
        planes = np.asarray(inputs.observations).reshape(len(inputs.seats), 4, SQUARES)
        me, mate, ball = (planes[:, plane].argmax(axis=1) for plane in (0, 1, 3))
        row, column = np.divmod(me, COLUMNS)
        chase = _towards(row, column, *np.divmod(ball, COLUMNS))
        action = np.where(ball == mate, _FORWARD, chase)
        run = np.where(column < COLUMNS - 1, _FORWARD, _to_the_goal(row))
        at = np.arange(len(me))
        ahead = planes[at, 2, np.minimum(me + 1, SQUARES - 1)] > 0
        blocked = ahead & (column < COLUMNS - 1)
        around = np.where(inputs.keys % 2 == 0, _LEFT, _RIGHT)
        around = np.where(row == 0, _RIGHT, np.where(row == ROWS - 1, _LEFT, around))
        return np.asarray(np.where(ball == me, np.where(blocked, around, run), action))


def _to_the_goal(row: NDArray[np.int64]) -> NDArray[np.int64]:
    """On the last column: through the goal, or to its rows first."""
    return np.where(row == 0, _RIGHT, np.where(row == ROWS - 1, _LEFT, _FORWARD))


def _towards(
    row: NDArray[np.int64], column: NDArray[np.int64], to_row: NDArray[np.int64], to_column: NDArray[np.int64]
) -> NDArray[np.int64]:
    across = np.where(to_row < row, _LEFT, _RIGHT)
    along = np.where(to_column > column, _FORWARD, _BACK)
    return np.where(to_row != row, across, along)
