"""Checks of what a game shows and returns in one step; each gives the method at fault and what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workers.games.protocol import StepResult, Turn, VectorGame
from workers.games.spaces import Part

Fault = tuple[str, str]
"""The method at fault, and what is wrong."""


def check_turn(game: VectorGame, turn: Turn) -> Fault | None:
    """Rows, observations and legal actions of a turn."""
    text = _rows(game, turn) or _observations(game, turn) or _legal(game, turn)
    return None if text is None else ("turn", text)


def check_result(game: VectorGame, result: StepResult, plies: NDArray[np.int64]) -> Fault | None:
    """Rewards and ends of a step; `plies` are the steps of each table's game before it."""
    text = _rewards(result) or _ends(game, result, plies)
    return None if text is None else ("advance", text)


def _rows(game: VectorGame, turn: Turn) -> str | None:
    spec, rows = game.spec, len(turn.tables)
    for name, array in (("tables", turn.tables), ("seats", turn.seats)):
        if not np.issubdtype(np.asarray(array).dtype, np.integer) or np.shape(array) != (rows,):
            return f"turn.{name} must be whole numbers, one for each row, not {_shape(array)}"
    if (np.asarray(turn.seats) < 0).any() or (np.asarray(turn.seats) >= spec.seats).any():
        return f"turn.seats must lie in 0 to {spec.seats - 1}, not {sorted(set(np.asarray(turn.seats).tolist()))}"
    if not game.seeds_fix_games:
        return _some_tables(game, turn)
    if not spec.simultaneous and not np.array_equal(turn.tables, np.arange(game.tables)):
        return f"a turn-based game has one row for each of its {game.tables} tables, in order; turn.tables has {rows}"
    return None


def _some_tables(game: VectorGame, turn: Turn) -> str | None:
    """Tables between two games have no row."""
    tables = np.asarray(turn.tables)
    if (np.diff(tables) <= 0).any() or not np.isin(tables, np.arange(game.tables)).all():
        return f"turn.tables must be tables of 0 to {game.tables - 1} in order, each once, not {tables.tolist()}"
    return None


def _observations(game: VectorGame, turn: Turn) -> str | None:
    parts = game.spec.observation_parts
    shown = turn.observations if isinstance(turn.observations, dict) else {"": turn.observations}
    if set(shown) != set(parts):
        return f"turn.observations has the parts {sorted(shown)}, the spec has {sorted(parts)}"
    for name, part in parts.items():
        text = _part(name, np.asarray(shown[name]), part, len(turn.tables))
        if text is not None:
            return text
    return None


def _part(name: str, array: NDArray[Any], part: Part, rows: int) -> str | None:
    what = f"part {name!r} of the observation" if name else "the observation"
    if array.shape != (rows, *part.shape) or array.dtype != part.dtype:
        wanted = f"{part.dtype} of shape {(rows, *part.shape)}"
        return f"{what} must be {wanted}, one row for each row of the turn, not {_shape(array)}"
    if np.issubdtype(array.dtype, np.floating) and not np.isfinite(array).all():
        row = int(np.argmax(~np.isfinite(array.reshape(rows, -1)).all(axis=1)))
        return f"{what} has a number that is not finite, in row {row}"
    space = part.space
    if isinstance(space, spaces.Box) and ((array < space.low).any() or (array > space.high).any()):
        allowed = f"{space.low.min()} to {space.high.max()}"
        return f"{what} lies outside its Box: it has {array.min()} to {array.max()}, allowed is {allowed}"
    return None


def _legal(game: VectorGame, turn: Turn) -> str | None:
    width = game.layout.mask_width
    if turn.legal is None:
        return None
    if width is None:
        return f"turn.legal must be None: actions of {game.spec.action} have no masks"
    legal = np.asarray(turn.legal)
    if legal.shape != (len(turn.tables), width) or legal.dtype != np.bool_:
        return f"turn.legal must be bool of shape {(len(turn.tables), width)}, not {_shape(legal)}"
    for at in game.layout.mask_slices():
        stuck = ~legal[:, at].any(axis=1)
        if stuck.any():
            row = int(np.argmax(stuck))
            return f"seat {turn.seats[row]} at table {turn.tables[row]} must act and has no legal action"
    return None


def _rewards(result: StepResult) -> str | None:
    if not np.isfinite(result.rewards).all():
        table, seat = np.argwhere(~np.isfinite(result.rewards))[0]
        return f"the reward of seat {seat} at table {table} is {result.rewards[table, seat]}, which is not finite"
    for name in ("done", "truncated"):
        array = np.asarray(getattr(result, name))
        if array.dtype != np.bool_ or array.shape != result.rewards.shape[:1]:
            return f"{name} must be bool of shape {result.rewards.shape[:1]}, not {_shape(array)}"
    return None


def _ends(game: VectorGame, result: StepResult, plies: NDArray[np.int64]) -> str | None:
    if (result.truncated & ~result.done).any():
        return "a game that is truncated is over: done must be true there"
    late = (plies + 1 >= game.spec.max_steps) & ~result.done
    if late.any():
        table = int(np.argmax(late))
        return f"the game at table {table} goes on after max_steps ({game.spec.max_steps}) steps"
    return None


def _shape(array: Any) -> str:
    array = np.asarray(array)
    return f"{array.dtype} of shape {array.shape}"
