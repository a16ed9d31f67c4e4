"""Copies of tables: positions as rows of arrays, which can be kept, put back, and put at other tables.

A game that holds its positions in arrays names them in `position_arrays`; a snapshot of n tables is n rows of each,
taken and put back without Python code per table. A search keeps one row for each node of its trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from workers.games.errors import BadGame

if TYPE_CHECKING:
    from workers.games.game_spec import GameSpec
    from workers.games.spaces import Observations

Snapshot = dict[str, NDArray[Any]]
"""Rows by the names of arrays, one row for each table. A row is never changed by the game it came from."""

SEED, GAME, PLY, MOVES = "seed", "game", "ply", "moves"
"""The arrays that every snapshot has: the table's seed, its number of games, its steps, and the actions so far."""


class TableCopies:
    """The part of a `VectorGame` that copies tables."""

    position_arrays: ClassVar[tuple[str, ...]] = ()
    """The attributes [tables, ...] that say, with the seed and the ply, all about a position; none: no copies."""
    step_needs_turn: ClassVar[bool] = True
    """False where a restored table can be stepped without a call of `turn` in between: a search then spares it."""
    keeps_history: bool = True
    """False spares a game that nobody asks for its `history` the cost of it."""

    spec: GameSpec
    tables: int
    table_seeds: NDArray[np.uint64]
    games: NDArray[np.int64]
    plies: NDArray[np.int64]
    _moves: NDArray[np.integer] | None
    _clock: int

    @property
    def copies_tables(self) -> bool:
        """Whether `snapshot`, `restore` and `copy` work."""
        return bool(self.position_arrays)

    def require_copies(self) -> None:
        """Raise BadGame for a game that cannot copy its tables."""
        if not self.copies_tables:
            raise BadGame(
                f"{self.spec.id}: its tables cannot be copied, so nobody can search in it; allowed: built-in games, "
                "OpenSpiel's games of perfect information, and games that name their position_arrays"
            )

    def snapshot(self, tables: NDArray[np.int64]) -> Snapshot:
        """The positions at these tables, seeds included: `restore` continues them exactly."""
        self.require_copies()
        found: Snapshot = {SEED: self.table_seeds[tables], GAME: self.games[tables], PLY: self.plies[tables]}
        found |= self._positions(tables)
        if self.keeps_history:
            found |= self._history_of(tables)
        return found

    def restore(self, tables: NDArray[np.int64], snapshot: Snapshot, seeds: NDArray[np.uint64] | None = None) -> None:
        """Put the rows of a snapshot at these tables, all different.

        With `seeds` what is still to be drawn comes from them: the same position, and another future. The game then is
        no longer the one of its seed.
        """
        self.require_copies()
        self.plies[tables] = snapshot[PLY]
        self.table_seeds[tables] = snapshot[SEED] if seeds is None else seeds
        self.games[tables] = snapshot[GAME] if seeds is None else 0
        self._put(tables, snapshot, seeds)
        if self.keeps_history:
            self._put_history(tables, snapshot)

    def copy(self, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> None:
        """Put the positions at the tables `sources` at the tables `targets` too."""
        self.restore(targets, self.snapshot(sources))

    @property
    def reads_observations(self) -> bool:
        """Whether `place_observations` works: whether an observation shows all of a position."""
        return type(self).place_observations is not TableCopies.place_observations

    def place_observations(self, observations: Observations) -> None:
        """Put at every table the position that its mover's observation shows, a row for each table.

        It serves a search in games that other processes hold. BadGame for a row that shows no position.
        """
        raise BadGame(
            f"{self.spec.id}: its positions cannot be read from observations; allowed: connect_four, tic_tac_toe, and "
            "games that define place_observations"
        )

    # What a game that holds its positions otherwise defines

    def _positions(self, tables: NDArray[np.int64]) -> Snapshot:
        """The rows of the position arrays."""
        return {name: getattr(self, name)[tables] for name in self.position_arrays}

    def _put(self, tables: NDArray[np.int64], snapshot: Snapshot, seeds: NDArray[np.uint64] | None) -> None:
        """Write rows of the position arrays; a game that keeps what it showed last must forget it."""
        for name in self.position_arrays:
            getattr(self, name)[tables] = snapshot[name]

    def _history_of(self, tables: NDArray[np.int64]) -> Snapshot:
        """The actions of the games at these tables, [rows, max_steps, numbers a step]; zeros after the last."""
        if self._moves is None:
            return {}
        steps, ages, width = self._ring(tables)
        columns = tables[:, None, None] * width + np.arange(width)
        moves = self._moves[steps[:, :, None], columns]
        moves[ages] = 0
        return {MOVES: moves}

    def _put_history(self, tables: NDArray[np.int64], snapshot: Snapshot) -> None:
        moves = snapshot.get(MOVES)
        if moves is None:
            if self.plies[tables].any():
                raise BadGame(f"{self.spec.id}: the snapshot has no history, and this game keeps one")
            return
        if self._moves is None:
            self._moves = np.zeros((self.spec.max_steps, self.tables * moves.shape[2]), moves.dtype)
        steps, ages, width = self._ring(tables)
        rows, at = np.nonzero(~ages)
        columns = tables[rows, None] * width + np.arange(width)
        self._moves[steps[rows, at][:, None], columns] = moves[rows, at]

    def _ring(self, tables: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_], int]:
        """Where the steps of these games are in the ring of actions, which of them are still to come, and the width."""
        assert self._moves is not None
        nth = np.arange(len(self._moves))
        steps = (self._clock - self.plies[tables][:, None] + nth) % len(self._moves)
        return steps, nth >= self.plies[tables][:, None], self._moves.shape[1] // self.tables
