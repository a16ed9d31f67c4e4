"""Connect four on bitboards: drops, lines and observations of all tables in a few array operations.

A board is a byte per row, lowest row first, with the eighth bit of each always empty: it keeps shifted
lines from wrapping around the edge. Six rows of seven fit 48 bits.

See docs/decisions/games-and-bots.md.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from workers.games import svg
from workers.games.builtin.board import TwoPlayerBoard, bit_rows
from workers.games.protocol import GameSpec

ROWS, COLUMNS = 6, 7
_ROW = np.uint64(8)
_BOTTOM = np.array([1 << column for column in range(COLUMNS)], np.uint64)
_COLUMN = np.array([sum(1 << (8 * row + column) for row in range(ROWS)) for column in range(COLUMNS)], np.uint64)
_TOP_SHIFT = np.uint64(8 * (ROWS - 1))
# Steps along a row, a column and the two diagonals.
_LINES = tuple((np.uint64(step), np.uint64(2 * step)) for step in (1, 8, 9, 7))
_FREE_COLUMNS = ~bit_rows(COLUMNS)
FOURS = np.array(
    [
        sum(1 << (8 * (row + n * up) + column + n * along) for n in range(4))
        for up, along in ((0, 1), (1, 0), (1, 1), (1, -1))
        for row in range(ROWS - 3 * up)
        for column in range(COLUMNS)
        if 0 <= column + 3 * along < COLUMNS
    ],
    np.uint64,
)
"""Every line of four, as the bits of its cells."""


@cache
def _two_rows() -> NDArray[np.float32]:
    """Two rows (16 bits, of which 14 are cells) as 14 floats: half the lookups that single rows need."""
    bits = bit_rows(16)
    return np.ascontiguousarray(bits[:, [*range(7), *range(8, 15)]], np.float32)


class ConnectFour(TwoPlayerBoard):
    """Seven columns, six rows, four in a line; an action is a column. Row 0 of a plane is the lowest."""

    full = np.uint64(sum(1 << (8 * row + column) for row in range(ROWS) for column in range(COLUMNS)))
    cells = np.array([1 << (8 * row + column) for row in range(ROWS) for column in range(COLUMNS)], np.uint64)

    def __init__(self, *, tables: int) -> None:
        spec = GameSpec(
            id="connect_four",
            seats=2,
            actions=COLUMNS,
            observation_shape=(2, ROWS, COLUMNS),
            max_steps=ROWS * COLUMNS,
            openspiel="connect_four",
            mirrored=tuple(reversed(range(COLUMNS))),
        )
        super().__init__(spec, tables)
        self._decode = _two_rows()
        self._row_pairs = self._stones.view(np.uint16).reshape(tables, 2, 4)[:, :, :3]
        self._flat = self._observations.reshape(tables, 2, 3, 14)

    def _landing(self, actions: NDArray[np.int64], occupied: NDArray[np.uint64]) -> NDArray[np.uint64]:
        stack = occupied & _COLUMN[actions]
        # Shifted up one row, with the bottom cell filled in, a column differs from itself by its next free cell.
        return ((stack << _ROW) | _BOTTOM[actions]) ^ stack

    def _wins(self, stones: NDArray[np.uint64]) -> NDArray[np.bool_]:
        lines = np.zeros_like(stones)
        for one, two in _LINES:
            pairs = stones & (stones >> one)
            lines |= pairs & (pairs >> two)
        return lines.astype(np.bool_)

    def _look(self, stones: NDArray[np.uint64]) -> None:
        # Indices are in range by construction; "clip" only spares numpy its buffered checking copy.
        np.take(self._decode, self._row_pairs, axis=0, out=self._flat, mode="clip")
        top = (stones[:, 0] | stones[:, 1]) >> _TOP_SHIFT
        np.take(_FREE_COLUMNS, top, axis=0, out=self._legal, mode="clip")

    def render_text(self, table: int, seat: int | None = None) -> str:
        rows = [" ".join(".xo"[cell + 1] for cell in row) for row in self._cells(table)[::-1]]
        return "\n".join([*rows, " ".join(map(str, range(COLUMNS)))])

    def render_svg(self, table: int, seat: int | None = None) -> str:
        parts = [svg.rect(0, 0, COLUMNS * 40, ROWS * 40, svg.BOARD, radius=6)]
        for row, cells in enumerate(self._cells(table)[::-1]):
            for column, cell in enumerate(cells):
                fill = svg.EMPTY if cell < 0 else svg.SEAT_COLOURS[cell]
                parts.append(svg.circle(column * 40 + 20, row * 40 + 20, 16, fill))
        for column in range(COLUMNS):
            parts.append(svg.action_area(column, column * 40, 0, 40, ROWS * 40, "column", f"{column + 1}", ROWS))
        if won := self.winning_cells(table, FOURS):
            ends = [((cell % COLUMNS) * 40 + 20, (ROWS - 1 - cell // COLUMNS) * 40 + 20) for cell in (won[0], won[-1])]
            parts.append(svg.winning_line(*ends[0], *ends[1]))
        return svg.document(COLUMNS * 40, ROWS * 40, self.render_text(table), parts)
