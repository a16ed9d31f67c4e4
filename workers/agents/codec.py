"""Converts between the values of agents and rows of arrays: observations, masks of legal actions, actions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workers.agents.errors import BadObservation
from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout, Part

Row = dict[str, NDArray[Any]]
"""Columns of one row, [1, ...]."""


class SpecCodec:
    """The spaces of one game, looked at once."""

    def __init__(self, spec: GameSpec) -> None:
        self.spec = spec
        self.layout = ActionLayout(spec.action)
        parts = spec.observation_parts
        self._columns = {name: _Column(name, part) for name, part in parts.items()}
        self._single = self._columns.get("") if list(parts) == [""] else None
        width = self.layout.mask_width
        self._mask_slices = self.layout.mask_slices() if width else []
        self._all_legal = None if width is None else np.ones((1, width), np.bool_)
        self.act: Callable[[NDArray[Any]], Any] = self._act
        """One action of a model, as the space itself has it."""
        if isinstance(spec.action, spaces.Discrete):
            first = int(spec.action.start)
            self.act = lambda action: int(action) + first

    def observe(self, observation: Any) -> Row:
        """An observation as columns; it is copied. Raises BadObservation where it does not fit the space."""
        if self._single is not None:
            return {"obs": self._single.row(observation)}
        if isinstance(observation, Mapping) and observation.keys() == self._columns.keys():
            flat: Mapping[str, Any] = observation
        else:
            flat = dict(_flatten(self.spec.observation, observation))
        return {f"obs/{name}": column.row(flat[name]) for name, column in self._columns.items()}

    def legal(self, mask: Any) -> NDArray[np.bool_] | None:
        """A mask of legal actions as a row; all of them for None, and None for spaces without masks."""
        if self._all_legal is None:
            if mask is not None:
                raise BadObservation(f"actions of {self.spec.action} have no mask of legal ones")
            return None
        if mask is None:
            return self._all_legal
        try:
            given = np.asarray(mask)
            bits = given.astype(np.bool_)
        except (TypeError, ValueError) as error:
            raise BadObservation(f"the mask of legal actions cannot be read: {error}") from error
        wanted = self._all_legal.shape[1]
        if given.shape != (wanted,):
            raise BadObservation(f"the mask of legal actions has shape {given.shape}; the game has ({wanted},)")
        row: NDArray[np.bool_] = bits.reshape(1, wanted)
        if given.dtype != np.bool_ and (row != given).any():
            raise BadObservation("the mask of legal actions holds other numbers than 0 and 1; see Agent.mask")
        if not all(row[0, at].any() for at in self._mask_slices):
            raise BadObservation("the mask of legal actions forbids all actions")
        return row

    def mask(self, actions: Sequence[int]) -> NDArray[np.bool_]:
        """The mask that allows these numbers of Discrete actions."""
        if not isinstance(self.spec.action, spaces.Discrete):
            raise BadObservation(f"actions are {self.spec.action}; mask takes numbers of Discrete actions")
        mask = np.zeros(self.spec.actions, np.bool_)
        for action in actions:
            mask[self.row_of(action)] = True
        return mask

    def _act(self, action: NDArray[Any]) -> Any:
        """Numbers of a Box beyond its bounds are clipped to them."""
        if self.layout.continuous:
            action = self.layout.clip(action[None])[0]
        return self.layout.to_environment(action)

    def row_of(self, action: Any) -> NDArray[Any]:
        """An action as the space has it, as a row; the inverse of `act`. Raises BadObservation where it is none."""
        try:
            numbers = np.asarray(list(_numbers(self.spec.action, action)), np.float64)
            row = numbers.astype(self.layout.dtype).reshape(1, *self.layout.shape)
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise BadObservation(f"{action!r} is no action of {self.spec.action}: {error}") from error
        whole = self.layout.continuous or bool((row.reshape(-1) == numbers).all())
        if not whole or not self.layout.inside(row)[0]:
            raise BadObservation(f"{action!r} is no action of {self.spec.action}")
        return self.layout.clip(row)


class _Column:
    """One array of an observation."""

    def __init__(self, name: str, part: Part) -> None:
        self._name = f"observation {name!r}" if name else "the observation"
        self._shape, self._dtype = part.shape, part.dtype
        self._row = (1, *part.shape)
        self._whole = part.dtype.kind not in "fc"
        self._zeros = np.zeros(math.prod(part.shape), part.dtype)

    def row(self, value: Any) -> NDArray[Any]:
        try:
            array = self._checked(value) if self._whole else np.array(value, self._dtype)
        except (TypeError, ValueError, OverflowError, RuntimeWarning) as error:
            raise BadObservation(f"{self._name} cannot be read as {self._dtype}: {error}") from error
        if array.shape != self._shape:
            raise BadObservation(f"{self._name} has shape {array.shape}; the game's space has {self._shape}")
        # the product with zeros is not finite where a number is not
        if not self._whole and not math.isfinite(array.reshape(-1).dot(self._zeros)):
            raise BadObservation(f"{self._name} holds a number that is not finite")
        return array.reshape(self._row)

    def _checked(self, value: Any) -> NDArray[Any]:
        """Whole numbers that the type can hold."""
        given = np.asarray(value)
        array = given.astype(self._dtype)
        if given.dtype != self._dtype and (array != given).any():
            raise ValueError("it holds numbers that this type does not have")
        return array.copy() if array is value else array


def _flatten(space: spaces.Space[Any], value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The parts of a nested observation by path, as `observation_parts` names them."""
    if isinstance(space, spaces.Dict):
        if not isinstance(value, Mapping) or value.keys() != space.spaces.keys():
            given = ", ".join(map(str, value)) if isinstance(value, Mapping) else f"a {type(value).__name__}"
            where = f"observation {path!r}" if path else "the observation"
            raise BadObservation(f"{where} is {given or 'empty'}; the game's space has {', '.join(space.spaces)}")
        inner = [(name, part, value[name]) for name, part in space.spaces.items()]
    elif isinstance(space, spaces.Tuple):
        if not isinstance(value, list | tuple) or len(value) != len(space.spaces):
            raise BadObservation(f"observation {path!r} must have {len(space.spaces)} parts")
        inner = [(str(number), part, value[number]) for number, part in enumerate(space.spaces)]
    else:
        yield path, value
        return
    for name, part, given in inner:
        yield from _flatten(part, given, f"{path}/{name}" if path else str(name))


def _numbers(space: spaces.Space[Any], action: Any) -> Iterator[float]:
    """The numbers of an action, side by side; those of Discrete spaces count from 0."""
    if isinstance(space, spaces.Dict):
        for name, part in space.spaces.items():
            yield from _numbers(part, action[name])
    elif isinstance(space, spaces.Tuple):
        for number, part in enumerate(space.spaces):
            yield from _numbers(part, action[number])
    elif isinstance(space, spaces.Discrete):
        yield float(action) - int(space.start)
    else:
        array = np.asarray(action, np.float64)
        if array.shape != (space.shape or ()):
            raise ValueError(f"shape {array.shape} instead of {space.shape}")
        start = space.start if isinstance(space, spaces.MultiDiscrete) else 0
        yield from (array - start).reshape(-1).tolist()
