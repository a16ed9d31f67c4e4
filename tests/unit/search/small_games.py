"""Small games whose best moves are known: three seats in turn, and a bet on a die."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame
from workers.games.seeding import mix, uniform

PAYOFFS = np.random.default_rng(7).normal(size=(2, 3, 3, 3, 3)).astype(np.float32).clip(-1, 1)
"""[game, choice of seat 0, of seat 1, of seat 2, seat]"""


class ThreeInTurn(VectorGame):
    """Three seats choose one of three in turn and see what was chosen; then all are paid. The seed names the game."""

    position_arrays = ("_chosen",)

    def __init__(self, *, tables: int) -> None:
        super().__init__(GameSpec(id="three", seats=3, actions=4, observation_shape=(3,), max_steps=3), tables)
        self._chosen = np.zeros((tables, 3), np.int64)

    def begin(self, tables: NDArray[np.int64]) -> None:
        self._chosen[tables] = 0

    def turn(self) -> Turn:
        legal = np.ones((self.tables, 4), np.bool_)
        legal[:, 3] = False  # the fourth action is never allowed
        seats = np.minimum(self.plies, 2)
        return Turn(np.arange(self.tables), seats, self._chosen.astype(np.float32), legal)

    def advance(self, actions: NDArray[Any]) -> StepResult:
        self.refuse_illegal(actions, self.turn())
        self._chosen[np.arange(self.tables), np.minimum(self.plies, 2)] = actions
        done = self.plies >= 2
        paid = PAYOFFS[(self.game_seeds % np.uint64(2)).astype(np.int64), *self._chosen.T]
        return StepResult(np.where(done[:, None], paid, np.float32(0)), done, np.zeros(self.tables, np.bool_))

    def render_text(self, table: int, seat: int | None = None) -> str:
        return str(self._chosen[table])


def best_first_choice(game: int) -> int:
    """Seat 0's choice if every seat does the best for itself, by going through all of it."""
    paid = PAYOFFS[game]
    worth = []
    for first in range(3):
        answers = [paid[first, second][paid[first, second, :, 2].argmax()] for second in range(3)]
        worth.append(max(answers, key=lambda each: each[1])[0])
    return int(np.argmax(worth))


class Bet(VectorGame):
    """One seat takes 0.4 (action 0), or 1 with the chance `chance` (action 1); one step."""

    position_arrays = ("_open",)
    chance = 0.8

    def __init__(self, *, tables: int) -> None:
        spec = GameSpec(id="bet", seats=1, actions=2, observation_shape=(1,), max_steps=1, chance=True)
        super().__init__(spec, tables)
        self._open = np.zeros(tables, np.int64)

    def begin(self, tables: NDArray[np.int64]) -> None:
        self._open[tables] = 1

    def turn(self) -> Turn:
        ones = np.ones((self.tables, 1), np.float32)
        return Turn(np.arange(self.tables), np.zeros(self.tables, np.int64), ones, np.ones((self.tables, 2), np.bool_))

    def advance(self, actions: NDArray[Any]) -> StepResult:
        won = uniform(mix(self.game_seeds, 9)) < self.chance
        paid = np.where(actions == 0, 0.4, won).astype(np.float32)[:, None]
        done = np.ones(self.tables, np.bool_)
        return StepResult(paid, done, ~done)

    def render_text(self, table: int, seat: int | None = None) -> str:
        return "bet"


class PoorBet(Bet):
    """The same with a chance that is not worth it."""

    chance = 0.1
