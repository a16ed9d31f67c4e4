"""Tic-tac-toe: nine bits a seat, so that lines, observations and legal moves are table lookups."""

import numpy as np
from numpy.typing import NDArray

from workers.games import svg
from workers.games.builtin.board import TwoPlayerBoard, bit_rows
from workers.games.protocol import GameSpec

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_CELLS = bit_rows(9)
_PLANE = _CELLS.astype(np.float32)
_FREE = ~_CELLS
_BIT = np.array([1 << cell for cell in range(9)], np.uint64)
_THREES = np.array([sum(1 << cell for cell in line) for line in LINES], np.uint64)

HAS_LINE: NDArray[np.bool_] = np.any([_CELLS[:, line].all(axis=1) for line in LINES], axis=0)
"""[512], whether stones on these nine bits hold a line."""


class TicTacToe(TwoPlayerBoard):
    """Three by three, three in a line; an action is a cell, row by row from the top left."""

    full = np.uint64(511)
    cells = _BIT

    def __init__(self, *, tables: int) -> None:
        spec = GameSpec(
            id="tic_tac_toe",
            seats=2,
            actions=9,
            observation_shape=(2, 3, 3),
            max_steps=9,
            openspiel="tic_tac_toe",
            mirrored=(2, 1, 0, 5, 4, 3, 8, 7, 6),
        )
        super().__init__(spec, tables)
        self._flat = self._observations.reshape(tables, 2, 9)

    def _landing(self, actions: NDArray[np.int64], occupied: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return _BIT[actions]

    def _wins(self, stones: NDArray[np.uint64]) -> NDArray[np.bool_]:
        return HAS_LINE[stones]

    def _look(self, stones: NDArray[np.uint64]) -> None:
        # Indices are in range by construction; "clip" only spares numpy its buffered checking copy.
        np.take(_PLANE, stones, axis=0, out=self._flat, mode="clip")
        np.take(_FREE, stones[:, 0] | stones[:, 1], axis=0, out=self._legal, mode="clip")

    def render_text(self, table: int, seat: int | None = None) -> str:
        return "\n".join(" ".join(".xo"[cell + 1] for cell in row) for row in self._cells(table))

    def render_svg(self, table: int, seat: int | None = None) -> str:
        parts = [svg.rect(0, 0, 120, 120, svg.EMPTY)]
        parts += [svg.line(at, 0, at, 120) + svg.line(0, at, 120, at) for at in (40, 80)]
        for row, cells in enumerate(self._cells(table)):
            for column, cell in enumerate(cells):
                action = 3 * row + column
                parts.append(svg.action_area(action, column * 40, row * 40, 40, 40, "cell", f"{action + 1}"))
                if cell >= 0:
                    colour = svg.SEAT_COLOURS[cell]
                    parts.append(svg.label(column * 40 + 20, row * 40 + 31, "XO"[cell], 32, colour))
        if won := self.winning_cells(table, _THREES):
            ends = [(cell % 3 * 40 + 20, cell // 3 * 40 + 20) for cell in (won[0], won[-1])]
            parts.append(svg.winning_line(*ends[0], *ends[1], width=2))
        return svg.document(120, 120, self.render_text(table), parts)
