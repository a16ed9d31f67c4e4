"""Gymnasium's spaces as arrays: the parts of an observation, and the layout of an action.

An observation is one array, or one array for each part of a Dict or Tuple, named by its path ("units/health", "0").
An action is one row of an array, whatever its space: see `ActionLayout`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workers.games.errors import BadGame

Observations = Any
"""One array of rows, or a dict of arrays by the names of the parts."""
Legal = Any
"""A mask of booleans [rows, actions], or None."""
ActionValue = int | float | Sequence[float]
"""One action as people read it: a number, or the numbers of a space of several."""

_LEAVES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
_ALLOWED = "Discrete, MultiDiscrete, MultiBinary, Box, and Dict or Tuple of these"


@dataclass(frozen=True)
class Part:
    """One array of an observation."""

    space: spaces.Space[Any]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def is_image(self) -> bool:
        """Whether it is a picture of bytes; built-in models divide it by 255."""
        return self.dtype == np.uint8 and len(self.shape) >= 2 and isinstance(self.space, spaces.Box)

    def zeros(self, rows: int) -> NDArray[Any]:
        return np.zeros((rows, *self.shape), self.dtype)


def observation_space(game: str, space: spaces.Space[Any] | None, shape: Sequence[int] | None) -> spaces.Space[Any]:
    """The declared observation space, or the box of float32 that a shape stands for."""
    if (space is None) == (shape is None):
        raise BadGame(f"{game}: a GameSpec needs either observation or observation_shape")
    if shape is not None:
        return spaces.Box(-np.inf, np.inf, tuple(shape), np.float32)
    assert space is not None
    for name, leaf in leaves(space):
        if not isinstance(leaf, _LEAVES):
            raise BadGame(f"{game}: observation {name or space} is {leaf}; allowed: {_ALLOWED}")
    if not any(True for _ in leaves(space)):
        raise BadGame(f"{game}: its observation space {space} is empty")
    return space


def action_space(game: str, space: spaces.Space[Any] | None, actions: int | None) -> spaces.Space[Any]:
    """The declared action space, or the Discrete one that a number of actions stands for."""
    if (space is None) == (actions is None):
        raise BadGame(f"{game}: a GameSpec needs either action or actions")
    if space is None:
        if actions is None or actions < 1:
            raise BadGame(f"{game}: actions must be at least 1, not {actions}")
        return spaces.Discrete(int(actions))
    check_action(game, space)
    return space


def check_action(game: str, space: spaces.Space[Any]) -> None:
    """Raise BadGame for an action space that no policy can play."""
    for name, leaf in leaves(space):
        where = f"action {name!r}" if name else "actions"
        if not isinstance(leaf, _LEAVES):
            raise BadGame(f"{game}: {where} are {leaf}; allowed: {_ALLOWED}")
        if isinstance(leaf, spaces.Box) and not np.issubdtype(leaf.dtype, np.floating):
            raise BadGame(f"{game}: {where} are {leaf} of {leaf.dtype}; allowed: Box of floats, or MultiDiscrete")
        if not math.prod(leaf.shape or (1,)):
            raise BadGame(f"{game}: {where} are {leaf}, which has no numbers")
    if not any(True for _ in leaves(space)):
        raise BadGame(f"{game}: its action space {space} is empty")


def leaves(space: spaces.Space[Any], path: str = "") -> Iterator[tuple[str, spaces.Space[Any]]]:
    """The parts of a space that are one array each, by path; "" for a space that is one itself."""
    if isinstance(space, spaces.Dict):
        inner = space.spaces.items()
    elif isinstance(space, spaces.Tuple):
        inner = {str(number): part for number, part in enumerate(space.spaces)}.items()
    else:
        yield path, space
        return
    for name, part in inner:
        yield from leaves(part, f"{path}/{name}" if path else str(name))


def observation_parts(space: spaces.Space[Any]) -> dict[str, Part]:
    """The arrays of an observation by name. Discrete parts are numbers of int64; built-in models make them one-hot."""
    return {name: _part(leaf) for name, leaf in leaves(space)}


def _part(leaf: spaces.Space[Any]) -> Part:
    return Part(leaf, tuple(leaf.shape or ()), np.dtype(leaf.dtype))


def take(observations: Observations, rows: Any) -> Observations:
    """These rows of an observation."""
    if isinstance(observations, dict):
        return {name: part[rows] for name, part in observations.items()}
    return observations[rows]


def columns(observations: Observations, prefix: str = "obs") -> dict[str, NDArray[Any]]:
    """The arrays of an observation as columns: "obs", or "obs/<part>" for each part."""
    if isinstance(observations, dict):
        return {f"{prefix}/{name}": part for name, part in observations.items()}
    return {prefix: observations}


def from_columns(columns: Any, prefix: str = "obs") -> Observations:
    """The inverse of `columns`: one array, or the dict of its parts."""
    if prefix in columns:
        return columns[prefix]
    start = f"{prefix}/"
    return {name.removeprefix(start): part for name, part in columns.items() if name.startswith(start)}


class ActionLayout:
    """How actions of a space lie in an array, one row each.

    Discrete: int64 [rows]. MultiDiscrete: int64 [rows, n]. MultiBinary: int8 [rows, n]. Box: float32 [rows, *shape].
    Dict and Tuple: float32 [rows, n], the numbers of all parts side by side. Discrete numbers begin at 0 here, whatever
    the space's `start`.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.space = space
        self.shape: tuple[int, ...]
        self.dtype: np.dtype[Any]
        if isinstance(space, spaces.Dict | spaces.Tuple):
            self.parts = [ActionLayout(leaf) for _, leaf in leaves(space)]
            self.shape, self.dtype = (sum(part.width for part in self.parts),), np.dtype(np.float32)
        else:
            self.parts = []
            self.shape = tuple(space.shape or ())
            kinds = {spaces.Box: np.float32, spaces.MultiBinary: np.int8}
            self.dtype = np.dtype(next((kind for of, kind in kinds.items() if isinstance(space, of)), np.int64))
        self.width: int = math.prod(self.shape)
        """Numbers of one action."""
        self.continuous = self.dtype == np.float32
        """Whether some of the numbers are not whole."""
        self._first = int(space.start) if isinstance(space, spaces.Discrete) else None

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """How many values each number has in Discrete and MultiDiscrete spaces; empty for others."""
        if isinstance(self.space, spaces.Discrete):
            return (int(self.space.n),)
        if isinstance(self.space, spaces.MultiDiscrete):
            return tuple(int(n) for n in self.space.nvec.reshape(-1))
        return ()

    @property
    def mask_width(self) -> int | None:
        """Width of a legal mask; None for spaces without one."""
        return sum(self.choices) or None

    @cached_property
    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Lowest and highest value of each number, flat."""
        if self.parts:
            low, high = zip(*(part.bounds for part in self.parts), strict=True)
            return np.concatenate(low), np.concatenate(high)
        if isinstance(self.space, spaces.Box):
            return self.space.low.reshape(-1).astype(np.float32), self.space.high.reshape(-1).astype(np.float32)
        highest = np.array(self.choices, np.float32) - 1 if self.choices else np.ones(self.width, np.float32)
        return np.zeros_like(highest), highest

    def slices(self) -> Iterator[tuple[ActionLayout, slice]]:
        """Each part of a Dict or Tuple with its columns."""
        start = 0
        for part in self.parts:
            yield part, slice(start, start + part.width)
            start += part.width

    def draws_shape(self, rows: int) -> tuple[int, ...]:
        """The shape of the uniform numbers that a player takes for this many rows."""
        return (rows,) if isinstance(self.space, spaces.Discrete) else (rows, self.width)

    def empty(self, rows: int) -> NDArray[Any]:
        return np.empty((rows, *self.shape), self.dtype)

    def flat(self, actions: NDArray[Any]) -> NDArray[Any]:
        """[rows, width]."""
        return actions.reshape(len(actions), self.width)

    def clip(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Numbers of a Box within its bounds; other spaces as they are."""
        if isinstance(self.space, spaces.Box):
            return np.asarray(np.clip(actions, self.space.low, self.space.high), np.float32)
        if not self.parts:
            return actions
        clipped = actions.copy()
        for part, at in self.slices():
            if part.continuous:
                clipped[:, at] = np.clip(actions[:, at], *part.bounds)
        return clipped

    def inside(self, actions: NDArray[Any]) -> NDArray[np.bool_]:
        """[rows], whether an action lies in the space; the numbers of a Box only need to be finite."""
        flat = self.flat(actions)
        if self.parts:
            whole = [part.inside(flat[:, at].astype(part.dtype).reshape(-1, *part.shape)) for part, at in self.slices()]
            return np.asarray(np.logical_and.reduce(whole) & np.isfinite(flat).all(axis=1))
        if self.continuous:
            return np.asarray(np.isfinite(flat).all(axis=1))
        low, high = self.bounds
        return np.asarray(((flat >= low) & (flat <= high)).all(axis=1))

    def any_legal(self, rows: int, legal: NDArray[np.bool_] | None) -> NDArray[Any]:
        """Some allowed action for each row: the first one, or zeros as far as the bounds allow."""
        if legal is not None and self.choices:
            chosen = [np.argmax(legal[:, at], axis=1) for at in self.mask_slices()]
            return np.stack(chosen, axis=1).reshape(rows, *self.shape)
        low, high = self.bounds
        return np.broadcast_to(np.clip(0, low, high), (rows, self.width)).astype(self.dtype).reshape(rows, *self.shape)

    def mask_slices(self) -> list[slice]:
        """The columns of the legal mask that belong to each number."""
        ends = np.cumsum(self.choices).tolist()
        return [slice(end - count, end) for end, count in zip(ends, self.choices, strict=True)]

    def draw(self, uniform: NDArray[Any], legal: NDArray[np.bool_] | None = None) -> NDArray[Any]:
        """Actions uniform over the space from numbers [rows, width] in [0, 1); unbounded numbers lie in -1..1."""
        rows = len(uniform)
        if self.parts:
            drawn = [part.draw(uniform[:, at]).reshape(rows, -1) for part, at in self.slices()]
            return np.concatenate(drawn, axis=1).astype(self.dtype)
        low, high = (bound.astype(np.float64) for bound in self.bounds)
        if self.continuous:
            low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2, -1))
            high = np.where(np.isfinite(high), high, low + 2)
            return (low + uniform * (high - low)).astype(self.dtype).reshape(rows, *self.shape)
        if legal is None or not self.choices:
            return np.floor(uniform * (high + 1)).astype(self.dtype).reshape(rows, *self.shape)
        chosen = []
        for number, at in enumerate(self.mask_slices()):
            rising = np.cumsum(legal[:, at], axis=1)
            chosen.append(np.argmax(rising > (uniform[:, number] * rising[:, -1])[:, None], axis=1))
        return np.stack(chosen, axis=1).reshape(rows, *self.shape)

    def numbers(self, actions: NDArray[Any]) -> NDArray[np.int64]:
        """[rows, width] whole numbers, as records keep actions; those of floats are their bits (float32 as int32)."""
        flat = self.flat(actions)
        if not self.continuous:
            return flat.astype(np.int64)
        return np.ascontiguousarray(flat, np.float32).view(np.int32).astype(np.int64)

    def from_numbers(self, numbers: Sequence[int]) -> NDArray[Any]:
        """The actions of a record, in rows; the inverse of `numbers`."""
        flat = np.array(numbers, np.int64).reshape(-1, self.width)
        if self.continuous:
            flat = flat.astype(np.int32).view(np.float32)
        return flat.astype(self.dtype, copy=False).reshape(-1, *self.shape)

    def value(self, action: NDArray[Any]) -> ActionValue:
        """One action as people read it."""
        plain: ActionValue = np.asarray(action).reshape(-1).tolist() if self.shape else np.asarray(action).item()
        return plain

    def to_environment(self, action: NDArray[Any]) -> Any:
        """One action as the space itself has it: what an environment's `step` takes."""
        if self._first is not None:
            return int(action) + self._first
        return _unflatten(self.space, iter(np.asarray(action).reshape(-1).tolist()))


def _unflatten(space: spaces.Space[Any], numbers: Iterator[float]) -> Any:
    if isinstance(space, spaces.Dict):
        return {name: _unflatten(part, numbers) for name, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(_unflatten(part, numbers) for part in space.spaces)
    if isinstance(space, spaces.Discrete):
        return int(next(numbers)) + int(space.start)
    shape = tuple(space.shape or ())
    array = np.array([next(numbers) for _ in range(math.prod(shape))], space.dtype).reshape(shape)
    return array + space.start if isinstance(space, spaces.MultiDiscrete) else array
