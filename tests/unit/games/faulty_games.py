"""Games with one fault each, as authors write them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lanista.games import StepResult, Turn
from workers.games.builtin.tic_tac_toe import TicTacToe


class WrongShape(TicTacToe):
    def turn(self) -> Turn:
        turn = super().turn()
        return replace(turn, observations=turn.observations.reshape(self.tables, -1))


class WrongType(TicTacToe):
    def turn(self) -> Turn:
        turn = super().turn()
        return replace(turn, observations=turn.observations.astype(np.float64))


class NotANumber(TicTacToe):
    def turn(self) -> Turn:
        turn = super().turn()
        observations = turn.observations.copy()
        observations[self.plies == 3] = np.nan
        return replace(turn, observations=observations)


class NoMove(TicTacToe):
    def turn(self) -> Turn:
        turn = super().turn()
        return replace(turn, legal=turn.legal & (self.plies < 4)[:, None])


class AcceptsAnything(TicTacToe):
    def refuse_illegal(self, actions: NDArray[Any], turn: Turn) -> None:
        """Accepts them all."""


class OwnDice(TicTacToe):
    def advance(self, actions: NDArray[Any]) -> StepResult:
        result = super().advance(actions)
        return replace(result, rewards=result.rewards + np.random.default_rng().random(1, np.float32))


class NeverReset(TicTacToe):
    """Earns more with every game of a table."""

    def advance(self, actions: NDArray[Any]) -> StepResult:
        result = super().advance(actions)
        return replace(result, rewards=result.rewards + self.games[:, None].astype(np.float32))


class TooLong(TicTacToe):
    def advance(self, actions: NDArray[Any]) -> StepResult:
        result = super().advance(actions)
        return replace(result, done=np.zeros_like(result.done))


class Raises(TicTacToe):
    def begin(self, tables: NDArray[np.int64]) -> None:
        raise LookupError("the board is lost")
