"""Pictures of OpenSpiel states: boards as boards, hidden and simultaneous games by what each seat sees or chose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

import pyspiel

from workers.games import svg
from workers.games.adapters.openspiel_boards import Board, Layout, board_of, cleaned, fen_rows, find_layout

_CELL, _MARGIN = 36.0, 26.0
_LIGHT, _DARK, _WOOD, _MARK = "#f0d9b5", "#b58863", "#e7d3ab", "#16a34a"
_PIECES = {"k": "♚", "q": "♛", "r": "♜", "b": "♝", "n": "♞", "p": "♟"}
_COLOURS = (*svg.SEAT_COLOURS, "#2563eb", "#16a34a", "#7c3aed", "#0891b2")
_LINE, _LETTER, _MOST_LETTERS, _LEAST_LETTERS = 18.0, 7.6, 46, 20
"""Of panels: the height of a line, the width of a letter, and how many letters a line has."""


@dataclass(frozen=True)
class SeatView:
    """What a seat is told of a state; None of `seat`: everything."""

    game: pyspiel.Game
    state: pyspiel.State
    seat: int | None
    hidden: bool


def draw_state(view: SeatView, title: str) -> str:
    """The state as SVG: a board where its text shows one, else panels for the seats, else the text."""
    text = _text(view)
    if (rows := fen_rows(text)) is not None:
        return _chess(rows, title)
    board = board_of(str(view.game))
    if board is not None and (drawn := _drawn_board(board, text, view, title)):
        return drawn
    several = view.game.num_players() > 1
    if several and (view.hidden or _is_simultaneous(view)):
        return _panels(view, title)
    return svg.text_svg("\n".join(cleaned(text)), title)


def _text(view: SeatView) -> str:
    """The text to look for a board in: a seat's own board is in its observation."""
    kind = view.game.get_type()
    if view.seat is None or not view.hidden:
        return str(view.state)
    if kind.provides_observation_string:
        return str(view.state.observation_string(view.seat))
    return _information(view, view.seat)


def _information(view: SeatView, seat: int) -> str:
    """What the seat knows, or what it sees now where that is drawn over more lines."""
    kind = view.game.get_type()
    known = str(view.state.information_state_string(seat)) if kind.provides_information_state_string else ""
    seen = str(view.state.observation_string(seat)) if kind.provides_observation_string else ""
    return seen if seen.count("\n") > known.count("\n") or not known else known


def _is_simultaneous(view: SeatView) -> bool:
    return bool(view.game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS)


# Boards


def _drawn_board(board: Board, text: str, view: SeatView, title: str) -> str | None:
    layout = board.layout
    if view.seat is not None and view.hidden:  # a seat's own text may lay the same cells out in another way
        own = find_layout(text)
        if own is None or len(own.places) != len(layout.places):
            return None
        layout = own
    symbols = layout.read(text)
    if symbols is None:
        return None
    left = _MARGIN - _CELL * min(0.0, *(x for x, _, _ in layout.labels), 0.0)
    right = max(place.x for place in layout.places) + 1
    rows = max(place.y for place in layout.places) + 1
    choices = _choices(view)
    width, height = left + right * _CELL + _MARGIN, 2 * _MARGIN + rows * _CELL + _LINE * len(choices)
    top = _MARGIN + (_CELL / 2 if any(y < 0 for _, y, _ in layout.labels) else 0)
    height += top - _MARGIN + (_CELL / 2 if any(y >= rows for _, y, _ in layout.labels) else 0)
    parts = [svg.rect(0, 0, width, height, _WOOD, radius=8)]
    parts += [_label(each, left, top) for each in layout.labels]
    changed = _changed(board, layout, view)
    square = layout.columns > 0 and not _is_sheared(layout)
    for at, (place, symbol) in enumerate(zip(layout.places, symbols, strict=True)):
        x, y = left + place.x * _CELL, top + place.y * _CELL
        parts.append(_cell(x, y, square, marked=at in changed))
        parts.append(_stone(board, symbol, x + _CELL / 2, y + _CELL / 2))
    parts += _areas(board, layout, view, left, top)
    below = height - _LINE * len(choices)
    parts += [svg.label(left, below + _LINE * at, line, 13, anchor="start") for at, line in enumerate(choices)]
    return svg.document(width, height, title, parts)


def _label(label: tuple[float, float, str], left: float, top: float) -> str:
    x, y, text = label
    return svg.label(left + (x + 0.5) * _CELL, top + (y + 0.62) * _CELL, text, 13)


def _is_sheared(layout: Layout) -> bool:
    """Whether rows begin at different places, as those of a hexagonal board do."""
    starts: dict[float, float] = {}
    for place in layout.places:
        starts.setdefault(place.y, place.x)
    return len(set(starts.values())) > 1


def _cell(x: float, y: float, square: bool, *, marked: bool) -> str:
    if square:
        cell = f'<rect x="{x:g}" y="{y:g}" width="{_CELL:g}" height="{_CELL:g}" fill="none" stroke="{_DARK}"/>'
    else:
        half = _CELL / 2
        cell = f'<circle cx="{x + half:g}" cy="{y + half:g}" r="{half - 1:g}" fill="none" stroke="{_DARK}"/>'
    if marked:
        inner = _CELL - 4
        cell += (
            f'<rect x="{x + 2:g}" y="{y + 2:g}" width="{inner:g}" height="{inner:g}" rx="4" fill="none" '
            f'stroke="{_MARK}" stroke-width="2"/>'
        )
    return cell


def _stone(board: Board, symbol: str, x: float, y: float) -> str:
    """A disc in its owner's colour, with its letter where a seat has several kinds; a letter for what is nobody's."""
    if symbol == board.empty:
        return ""
    owner = board.owners.get(symbol)
    if owner is None:
        return svg.label(x, y + 7, symbol, 20)
    disc = svg.circle(x, y, _CELL / 2 - 5, _COLOURS[owner % len(_COLOURS)])
    kinds = [each for each, seat in board.owners.items() if seat == owner]
    return disc + (svg.label(x, y + 5, symbol, 14, "#111827") if len(kinds) > 1 else "")


def _changed(board: Board, layout: Layout, view: SeatView) -> set[int]:
    """The cells that the last move changed, where the page cannot know them by the action."""
    history = view.state.full_history()
    if board.cells or board.columns or view.hidden or _is_simultaneous(view) or not history or history[-1].player < 0:
        return set()
    before = view.game.new_initial_state()
    for each in history[:-1]:
        before.apply_action(each.action)
    old, new = layout.read(str(before)), layout.read(str(view.state))
    if old is None or new is None:
        return set()
    return {at for at, (was, now) in enumerate(zip(old, new, strict=True)) if was != now}


def _areas(board: Board, layout: Layout, view: SeatView, left: float, top: float) -> list[str]:
    if board.columns:
        rows = len(layout.places) // board.columns
        return [
            svg.action_area(at, left + at * _CELL, top, _CELL, rows * _CELL, "column", f"{at + 1}", rows)
            for at in range(board.columns)
        ]
    return [
        svg.action_area(
            action,
            left + layout.places[cell].x * _CELL,
            top + layout.places[cell].y * _CELL,
            _CELL,
            _CELL,
            "cell",
            _cell_name(view, action),
        )
        for action, cell in board.cells.items()
    ]


def _cell_name(view: SeatView, action: int) -> str:
    """What the game calls the cell: a1, or its row and column; else the action's number."""
    words = str(view.game.new_initial_state().action_to_string(0, action))
    found = re.search(r"[a-z]\d+", words) or re.search(r"\d+, ?\d+", words)
    return found[0] if found else str(action)


def _chess(rows: Sequence[str], title: str) -> str:
    size = 8 * _CELL + 2 * _MARGIN
    parts = [svg.rect(0, 0, size, size, _WOOD, radius=8)]
    for at, row in enumerate(rows):
        y = _MARGIN + at * _CELL
        parts.append(svg.label(_MARGIN / 2, y + 23, str(8 - at), 13))
        parts.append(svg.label(_MARGIN + (at + 0.5) * _CELL, size - 8, "abcdefgh"[at], 13))
        for column, symbol in enumerate(row):
            x = _MARGIN + column * _CELL
            parts.append(svg.rect(x, y, _CELL, _CELL, _LIGHT if (at + column) % 2 == 0 else _DARK))
            if symbol == "?":
                parts.append(svg.rect(x, y, _CELL, _CELL, "#6b7280"))
            elif symbol != ".":
                parts.append(_piece(symbol, x + _CELL / 2, y + 28))
    return svg.document(size, size, title, parts)


def _piece(symbol: str, x: float, y: float) -> str:
    fill = "#ffffff" if symbol.isupper() else "#111827"
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="sans-serif" font-size="28" text-anchor="middle" fill="{fill}" '
        f'stroke="#111827" stroke-width="0.8">{_PIECES[symbol.lower()]}</text>'
    )


# Panels


def _choices(view: SeatView) -> list[str]:
    """What each seat chose last, where all choose at once and all see it."""
    if not _is_simultaneous(view) or (view.hidden and view.seat is not None):
        return []
    last: dict[int, int] = {}
    for each in view.state.full_history():
        if each.player >= 0:
            last[each.player] = each.action
    state = view.state if not view.state.is_terminal() else view.game.new_initial_state()
    return [f"seat {seat} chose {state.action_to_string(seat, action)}" for seat, action in sorted(last.items())]


def _panels(view: SeatView, title: str) -> str:
    """A panel for each seat with what it knows; what others know is hidden from a seat."""
    panels = [_panel_lines(view, seat) for seat in range(view.game.num_players())]
    public = _wrapped("\n".join(cleaned(str(view.state)))) if view.seat is None else []
    public += _choices(view)
    rows, count = max(len(lines) for lines in panels), len(panels)
    letters = max(_LEAST_LETTERS, *(len(line) for lines in panels for line in lines), 0)
    letters = max(letters, max(map(len, public), default=0) // count)
    panel, high = 16 + _LETTER * letters, 44 + _LINE * rows
    width = count * panel + (count + 1) * 12
    height = high + 24 + (_LINE * len(public) + 16 if public else 0)
    parts = [svg.rect(0, 0, width, height, svg.FELT, radius=12)]
    mover = view.state.current_player()
    for seat, lines in enumerate(panels):
        x = 12 + seat * (panel + 12)
        parts.append(svg.rect(x, 12, panel, high, svg.PALE if lines else svg.CARD_BACK, radius=8))
        parts.append(svg.circle(x + 18, 32, 7, _COLOURS[seat % len(_COLOURS)]))
        heading = f"seat {seat}" + (", you" if seat == view.seat else "") + (", to move" if seat == mover else "")
        parts.append(svg.label(x + 32, 37, heading if lines else f"{heading}: hidden", 15, _ink(lines), "start"))
        parts += [_mono(x + 12, 62 + _LINE * at, line, svg.INK) for at, line in enumerate(lines)]
    parts += [_mono(16, high + 42 + _LINE * at, line, svg.PALE) for at, line in enumerate(public)]
    return svg.document(width, height, title, parts)


def _ink(lines: Sequence[str]) -> str:
    return svg.INK if lines else svg.PALE


def _panel_lines(view: SeatView, seat: int) -> list[str]:
    if view.seat not in (None, seat) and view.hidden:
        return []
    return _wrapped(_information(view, seat)) or ["nothing"]


def _wrapped(text: str) -> list[str]:
    """Lines of a panel's width; `[Private: 5][Round 1]` becomes a line for each."""
    lines = text.replace("][", "\n").strip("[] \n").splitlines()
    return [piece for line in lines for piece in (wrap(line, _MOST_LETTERS, drop_whitespace=False) or [""])]


def _mono(x: float, y: float, text: str, colour: str) -> str:
    shown = escape("".join(filter(str.isprintable, text)))
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="monospace" font-size="12.5" fill="{colour}" '
        f'xml:space="preserve">{shown}</text>'
    )
