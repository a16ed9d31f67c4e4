"""A game that takes its time."""

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import StepResult
from workers.games.tic_tac_toe import TicTacToe


class SlowGame(TicTacToe):
    """Tic-tac-toe at half a minute a move; the file named by `begun` tells that one is being made."""

    def __init__(self, tables: int, begun: str) -> None:
        super().__init__(tables=tables)
        self._begun = Path(begun)

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        self._begun.touch()
        time.sleep(30)
        return super().advance(actions)
