"""A game of your own in one file: Nim. The seat that takes the last stone wins.

A trial file beside it names it: `game: {id: "own_game:Nim", most: 21}`.
"""

import numpy as np
from numpy.typing import NDArray

from lanista.games import GameSpec, StepResult, Turn, VectorGame, below, mix


class Nim(VectorGame):
    """A heap of at most `most` stones; seats in turn take one, two or three."""

    def __init__(self, *, tables: int, most: int = 21) -> None:
        spec = GameSpec(
            id="nim",
            seats=2,
            actions=3,
            observation_shape=(most + 1,),
            max_steps=most,
            chance=True,  # the heap is drawn from the seed, so games differ
            action_names=("one", "two", "three"),
        )
        super().__init__(spec, tables)
        self.most = most
        self.stones = np.zeros(tables, np.int64)
        self.mover = np.zeros(tables, np.int64)

    def begin(self, tables: NDArray[np.int64]) -> None:
        # All chance comes from the seeds, so a seed and the actions are the whole game.
        taken_before = below(mix(self.seeds_of(tables)), self.most // 2)
        self.stones[tables] = self.most - taken_before
        self.mover[tables] = 0

    def turn(self) -> Turn:
        observations = np.eye(self.most + 1, dtype=np.float32)[self.stones]
        legal = np.arange(1, 4) <= self.stones[:, None]
        return Turn(np.arange(self.tables), self.mover.copy(), observations, legal)

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        self.refuse_illegal(actions, self.turn())
        self.stones -= actions + 1
        done = self.stones == 0
        rewards = np.zeros((self.tables, 2), np.float32)
        rewards[done, self.mover[done]] = 1
        rewards[done, 1 - self.mover[done]] = -1
        self.mover ^= 1
        return StepResult(rewards, done, np.zeros_like(done))

    def render_text(self, table: int, seat: int | None = None) -> str:
        return f"{'|' * self.stones[table]} {self.stones[table]} stones, seat {self.mover[table]} to move"
