"""Base of the two-player board games: bitboards from the mover's point of view."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from workers.games.errors import BadGame
from workers.games.protocol import GameSpec, StepResult, Turn, VectorGame
from workers.games.spaces import Observations


def bit_rows(bits: int) -> NDArray[np.bool_]:
    """[2**bits, bits]: every number as its bits, lowest first; a table that decodes by one lookup."""
    return ((np.arange(1 << bits)[:, None] >> np.arange(bits)) & 1).astype(np.bool_)


class TwoPlayerBoard(VectorGame):
    """Two seats in turn put stones on a board of at most 64 bits; a line wins 1, a full board is a draw.

    Observations are two planes, the mover's own stones and the other's.
    """

    position_arrays = ("_stones", "_mover")
    step_needs_turn = False
    full: np.uint64
    """The bits of a full board."""
    cells: NDArray[np.uint64]
    """The bit of each cell, in the order of an observation's plane."""

    def __init__(self, spec: GameSpec, tables: int) -> None:
        super().__init__(spec, tables)
        self._stones = np.zeros((tables, 2), np.uint64)
        self._mover = np.zeros(tables, np.int64)
        self._observations = np.zeros((tables, *spec.observation_shape), np.float32)
        self._legal = np.ones((tables, spec.actions), np.bool_)
        self._rewards = np.zeros((tables, 2), np.float32)
        self._never = np.zeros(tables, np.bool_)
        self._turn = Turn(np.arange(tables), self._mover, self._observations, self._legal)

    @abstractmethod
    def _landing(self, actions: NDArray[np.int64], occupied: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The bit each action sets; off the board or already taken where the action is illegal."""

    @abstractmethod
    def _wins(self, stones: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Whether these stones of one seat hold a line."""

    @abstractmethod
    def _look(self, stones: NDArray[np.uint64]) -> None:
        """Write the observations and the legal masks of these positions, [tables, (mine, theirs)]."""

    def begin(self, tables: NDArray[np.int64]) -> None:
        self._stones[tables] = 0
        self._mover[tables] = 0

    def turn(self) -> Turn:
        self._look(self._stones)
        return self._turn

    def advance(self, actions: NDArray[np.int64]) -> StepResult:
        # As unsigned a negative action is huge: one comparison finds both ways of being out of range.
        if (actions.view(np.uint64) >= self.spec.actions).any():
            self._refuse(actions)
        mine, theirs = self._stones[:, 0], self._stones[:, 1]
        occupied = mine | theirs
        landing = self._landing(actions, occupied)
        if not (landing & ~occupied & self.full).all():
            self._refuse(actions)
        moved = mine | landing
        won = self._wins(moved)
        done = won | ((occupied | landing) == self.full)
        np.multiply(won, 1 - 2 * self._mover, out=self._rewards[:, 0], casting="unsafe")
        np.negative(self._rewards[:, 0], out=self._rewards[:, 1])
        self._stones[:, 0] = theirs
        self._stones[:, 1] = moved
        self._mover ^= 1
        return StepResult(self._rewards, done, self._never)

    def place_observations(self, observations: Observations) -> None:
        assert not isinstance(observations, dict)
        planes = observations.reshape(self.tables, 2, -1) > 0
        counts = planes.sum(2)
        ahead = counts[:, 1] - counts[:, 0]
        if planes.all(1).any() or ((ahead != 0) & (ahead != 1)).any():
            raise BadGame(f"{self.spec.id}: an observation shows no position: two stones on a cell, or too many of one")
        self._stones[:] = np.where(planes, self.cells, np.uint64(0)).sum(2, dtype=np.uint64)
        self._mover[:] = ahead  # seat 0 moves first, so that the other one is a stone ahead before each of its moves
        self.plies[:] = counts.sum(1)

    def _refuse(self, actions: NDArray[np.int64]) -> None:
        self._look(self._stones)
        self.refuse_illegal(actions, self._turn)

    def winning_cells(self, table: int, lines: NDArray[np.uint64]) -> list[int]:
        """The cells of a winning line, of those given as bits; empty where neither seat has one."""
        for stones in self._stones[table]:
            held = lines[(lines & stones) == lines]
            if len(held):
                return np.flatnonzero(self.cells & held[0]).tolist()
        return []

    def _cells(self, table: int) -> NDArray[np.int64]:
        """The observation's grid of one table: 0 or 1 for a seat's stone, -1 for none; first row first."""
        self._look(self._stones)
        mine, theirs = self._observations[table] > 0
        mover = int(self._mover[table])
        return np.where(mine, mover, np.where(theirs, 1 - mover, -1))
