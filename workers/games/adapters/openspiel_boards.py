"""Finds the board in the text of an OpenSpiel state: its cells, the owners of stones, the cell that an action fills.

OpenSpiel draws states as text only, each game in its own way. The places of the cells are read from the first position;
owners and actions are learnt from a few random games, for no game declares them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Final

import numpy as np
import pyspiel

EMPTY: Final = ".-+_"
"""Signs of a free cell, in the order in which they are looked for."""
_ANSI: Final = re.compile(r"\x1b\[[0-9;]*m")
_FEN: Final = re.compile(r"^((?:[pnbrqkPNBRQK?1-8]+/){7}[pnbrqkPNBRQK?1-8]+) [wb] ")
_GAMES, _PLIES, _WITNESSES = 6, 80, 3
_MOST_SYMBOLS: Final = 12


@dataclass(frozen=True)
class Place:
    """Where a cell is in the text, and on the board in units of a cell."""

    line: int
    column: int
    x: float
    y: float


@dataclass(frozen=True)
class Layout:
    """The cells of a board row by row; `labels` are names of rows and columns beside it."""

    places: tuple[Place, ...]
    labels: tuple[tuple[float, float, str], ...] = ()

    @property
    def columns(self) -> int:
        """Cells of each row; 0 where rows differ, as those of a hexagon do."""
        lengths = {len(list(row)) for _, row in groupby(self.places, key=lambda place: place.y)}
        return lengths.pop() if len(lengths) == 1 else 0

    def read(self, text: str) -> str | None:
        """The symbols of the cells in this text, in the order of `places`; None where it shows no such board."""
        lines = cleaned(text)
        found = [lines[at.line][at.column : at.column + 1] if at.line < len(lines) else "" for at in self.places]
        return "".join(found) if all(symbol.strip() for symbol in found) else None


@dataclass(frozen=True)
class Board:
    """A game's board: its layout, the symbol of a free cell, and what random games have shown."""

    layout: Layout
    empty: str
    owners: dict[str, int]
    """The seat whose moves put this symbol down; none for symbols that several seats put down."""
    columns: int
    """How many columns actions fill from below, as discs do; 0: they do not."""
    cells: dict[int, int]
    """The cell that each action fills; empty where moves are not so simple."""


def without_colours(text: str) -> str:
    """The text without a terminal's codes for colours, which no picture may have."""
    return _ANSI.sub("", text)


def cleaned(text: str) -> list[str]:
    """The lines without colours; brackets around the last move become blanks, which keeps every column."""
    return without_colours(text).replace("[", " ").replace("]", " ").splitlines()


def fen_rows(text: str) -> list[str] | None:
    """The eight rows of a chess position in Forsyth-Edwards notation; None where the text is none."""
    found = _FEN.match(text)
    if found is None:
        return None
    return [re.sub(r"\d", lambda digit: "." * int(digit[0]), row) for row in found[1].split("/")]


@lru_cache(maxsize=64)
def board_of(game: str) -> Board | None:
    """The board of OpenSpiel's game of this name; None where its text shows none."""
    loaded = pyspiel.load_game(game)
    layout = find_layout(str(_settled(loaded.new_initial_state(), np.random.default_rng(0))))
    if layout is None:
        return None
    positions = list(_played(loaded, layout))
    symbols = {symbol for _, _, before, after in positions for symbol in before + after}
    if not positions or len(symbols) > _MOST_SYMBOLS:
        return None
    empty = next((symbol for symbol in EMPTY if symbol in symbols), "")
    owners = _learn_owners(positions, empty)
    if not owners and loaded.num_players() > 1 and positions[0][0] >= 0:
        return None  # nobody's moves show on it
    filled = _filled(positions, empty)
    actions = loaded.num_distinct_actions()
    columns = actions if _fills_columns(filled, layout, actions) else 0
    return Board(layout, empty, owners, columns, {} if columns else _learn_cells(filled, layout, actions))


Played = tuple[int, int, str, str]
"""Seat, action, and the symbols before and after it."""


def _played(game: pyspiel.Game, layout: Layout) -> Iterator[Played]:
    """Moves of a few random games; of simultaneous ones the seat is -1."""
    for number in range(_GAMES):
        rng = np.random.default_rng(number)
        state = _settled(game.new_initial_state(), rng)
        for _ in range(_PLIES):
            if state.is_terminal():
                break
            before, seat, action = layout.read(str(state)), state.current_player(), -1
            if state.is_simultaneous_node():
                state.apply_actions([_any(state.legal_actions(each) or [0], rng) for each in range(game.num_players())])
                seat = -1
            else:
                action = _any(state.legal_actions(), rng)
                state.apply_action(action)
            after = layout.read(str(_settled(state, rng)))
            if before is not None and after is not None:
                yield seat, action, before, after


def _any(actions: Sequence[int], rng: np.random.Generator) -> int:
    return actions[int(rng.integers(len(actions)))]


def _settled(state: pyspiel.State, rng: np.random.Generator) -> pyspiel.State:
    """The state after its chance moves."""
    while state.is_chance_node():
        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(outcomes[int(rng.choice(len(outcomes), p=np.array(chances) / sum(chances)))])
    return state


def _learn_owners(positions: Sequence[Played], empty: str) -> dict[str, int]:
    votes: dict[str, Counter[int]] = {}
    for seat, _, before, after in positions:
        for old, new in zip(before, after, strict=True):
            if new not in (old, empty) and seat >= 0:
                votes.setdefault(new, Counter())[seat] += 1
    # a symbol that every seat puts down, such as a wall, is nobody's
    return {symbol: seats.most_common(1)[0][0] for symbol, seats in votes.items() if len(seats) == 1}


def _filled(positions: Sequence[Played], empty: str) -> list[tuple[int, int]]:
    """Actions that filled exactly one free cell, and the cell."""
    found = []
    for _, action, before, after in positions:
        new = [at for at, (old, now) in enumerate(zip(before, after, strict=True)) if old == empty != now]
        if len(new) == 1 and action >= 0:
            found.append((action, new[0]))
    return found if len(found) >= _WITNESSES else []


def _fills_columns(filled: Sequence[tuple[int, int]], layout: Layout, actions: int) -> bool:
    return bool(filled) and layout.columns == actions and all(cell % actions == action for action, cell in filled)


def _learn_cells(filled: Sequence[tuple[int, int]], layout: Layout, actions: int) -> dict[int, int]:
    """The cell of each action: all cells in a simple order, or as observed where each action has a cell of its own."""
    count = len(layout.places)
    upwards = sorted(range(count), key=lambda at: (-layout.places[at].y, layout.places[at].x))
    for order in (list(range(count)), upwards):
        if filled and actions >= count and all(action < count and order[action] == cell for action, cell in filled):
            return dict(enumerate(order))
    observed = dict(filled)
    has_own = len(set(observed.values())) == len(observed) and all(observed[action] == cell for action, cell in filled)
    return observed if has_own else {}


@dataclass(frozen=True)
class _Row:
    line: int
    label: str
    at: int
    """The text's column of the first cell."""
    cells: tuple[int, ...]
    """The text's columns of the cells."""
    spaced: bool


def find_layout(text: str) -> Layout | None:
    """The largest block of lines that look like the rows of a board; None without one."""
    lines = cleaned(text)
    numbered = _numbered(lines)
    rows = [_row(line, number, number in numbered) for number, line in enumerate(lines)]
    blocks = []
    for kind, block in groupby(rows, key=lambda row: row and (row.spaced, 0 if row.spaced else len(row.cells))):
        found = [row for row in block if row is not None]
        if kind and len(found) >= 2:
            blocks.append(found)
    if not blocks:
        return None
    best = max(blocks, key=lambda block: sum(len(row.cells) for row in block))
    symbols = {lines[row.line][at] for row in best for at in row.cells}
    has_frame = "|" in symbols or (any(map(str.isdigit, symbols)) and "-" in symbols)
    if has_frame or len(symbols) > _MOST_SYMBOLS or (not symbols & set(EMPTY) and len(symbols) > 3):
        return None
    return _laid_out(best, lines)


def _numbered(lines: Sequence[str]) -> set[int]:
    """Lines that begin with row numbers, one more or one less than the line's before."""
    numbers = {at: int(found[1]) for at, line in enumerate(lines) if (found := re.match(r"\s*(\d{1,2})(?=\D)", line))}
    steps = {at for at, after in pairwise(numbers) if after == at + 1 and abs(numbers[after] - numbers[at]) == 1}
    return steps | {at + 1 for at in steps}


def _row(line: str, number: int, numbered: bool) -> _Row | None:
    label = ""
    if numbered:
        found = re.match(r"\s*(\d{1,2})", line)
        assert found is not None
        label = found[1]
        line = " " * found.end() + re.sub(rf"(\s){label}\s*$", r"\1", line[found.end() :])
    tokens = list(re.finditer(r"\S+", line))
    if not tokens or _is_header("".join(token[0] for token in tokens)):
        return None
    if len(tokens) == 1 and len(tokens[0][0]) >= 2:
        cells = tuple(range(tokens[0].start(), tokens[0].end()))
        return _Row(number, label, cells[0], cells, False)
    if any(len(token[0]) > 1 for token in tokens):
        return None
    if numbered and tokens[-1][0].isalpha() and all(token[0] in EMPTY for token in tokens[:-1]):
        tokens.pop()  # in the first position only: the name of a column that begins here
    cells = tuple(token.start() for token in tokens)
    if any(after - before != 2 for before, after in pairwise(cells)):
        return None
    return _Row(number, label, cells[0], cells, True)


def _is_header(letters: str) -> bool:
    """Whether these are the names of columns: a, b, c, ..."""
    return len(letters) > 1 and letters.lower() == "".join(chr(97 + at) for at in range(len(letters)))


def _laid_out(rows: Sequence[_Row], lines: Sequence[str]) -> Layout:
    first = min(row.at for row in rows)
    unit = 2 if rows[0].spaced else 1
    places = [Place(row.line, at, (at - first) / unit, float(y)) for y, row in enumerate(rows) for at in row.cells]
    labels = [
        (min(row.cells) / unit - first / unit - 1, float(y), row.label) for y, row in enumerate(rows) if row.label
    ]
    for beside, y in ((rows[0].line - 1, -1.0), (rows[-1].line + 1, float(len(rows)))):
        if 0 <= beside < len(lines) and _is_header(re.sub(r"\s", "", lines[beside])):
            names = [(at, sign) for at, sign in enumerate(lines[beside]) if sign.strip()]
            labels += [((at - first) / unit, y, sign) for at, sign in names]
    return Layout(tuple(places), tuple(labels))
