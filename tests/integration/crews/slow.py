"""A game that takes its time."""

import time

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import StepResult
from workers.games.tic_tac_toe import TicTacToe


class SlowGame(TicTacToe):
    """Tic-tac-toe at half a minute a move."""

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        time.sleep(30)
        return super().advance(actions)
