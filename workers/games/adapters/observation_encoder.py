"""Observations of other libraries' environments as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workers.games.errors import BadGame
from workers.games.spaces import leaves

Write = Callable[[Any, NDArray[Any]], None]


@dataclass(frozen=True)
class ObservationEncoder:
    """Writes an agent's observations into arrays; a legal mask within them is read separately.

    A Box keeps its shape and type, except that float64 becomes float32. Discrete and MultiDiscrete numbers become
    one-hot, and other spaces of a fixed size are flattened.
    """

    given: spaces.Space[Any]
    """What the environment shows, without its mask."""
    space: spaces.Space[Any]
    """What a policy sees."""
    masked: bool

    @cached_property
    def _leaves(self) -> list[tuple[str, spaces.Space[Any], bool]]:
        return [(name, leaf, isinstance(leaf, spaces.Box)) for name, leaf in leaves(self.given)]

    def write(self, shown: Any, row: Mapping[str, NDArray[Any]]) -> None:
        """Write what an agent was shown into one row of each part."""
        value = shown["observation"] if self.masked else shown
        for name, leaf, is_array in self._leaves:
            part = _at(value, name) if name else value
            row[name][...] = part if is_array else spaces.flatten(leaf, part)

    def mask(self, shown: Any, info: Mapping[str, Any]) -> NDArray[np.bool_] | None:
        """The legal actions as the environment gives them, in the observation or in the info; or None."""
        found = shown["action_mask"] if self.masked else info.get("action_mask")
        if found is None:
            return None
        return np.concatenate(found).astype(np.bool_) if isinstance(found, tuple) else np.asarray(found, np.bool_)


def observation_encoder(space: spaces.Space[Any], game: str) -> ObservationEncoder:
    """The encoder of a space; raises BadGame for spaces without a fixed size."""
    masked = isinstance(space, spaces.Dict) and set(space.keys()) == {"observation", "action_mask"}
    given = space["observation"] if masked else space  # type: ignore[index]
    return ObservationEncoder(given, _seen(given, game), masked)


def _seen(space: spaces.Space[Any], game: str) -> spaces.Space[Any]:
    if isinstance(space, spaces.Dict):
        return spaces.Dict({name: _seen(part, game) for name, part in space.spaces.items()})
    if isinstance(space, spaces.Tuple):
        return spaces.Tuple([_seen(part, game) for part in space.spaces])
    if isinstance(space, spaces.Box):
        shape = space.shape or (1,)
        kept = np.float32 if space.dtype == np.float64 else space.dtype
        low, high = (bound.reshape(shape).astype(kept) for bound in (space.low, space.high))
        return spaces.Box(low, high, shape, kept)
    try:
        return spaces.Box(-np.inf, np.inf, (spaces.flatdim(space),), np.float32)
    except (ValueError, NotImplementedError) as error:
        raise BadGame(f"{game}: observations of {space} have no fixed size: {error}") from error


def _at(value: Any, path: str) -> Any:
    """The part of an observation at a path of `leaves`."""
    for name in path.split("/") if path else ():
        value = value[name] if isinstance(value, Mapping) else value[int(name)]
    return value
