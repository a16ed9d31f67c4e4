"""An actor for use in any program: one observation in, one action out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout, Part
from workers.inference.actor import Columns
from workers.inference.policy import Policy
from workers.serving.versions import ServedVersion


class LoadedActor:
    """A version that acts. It remembers the recurrent state of one game; `reset` begins another."""

    def __init__(self, version: ServedVersion, seed: int | None = None) -> None:
        self.version = version.record.name
        self.version_id = version.record.id
        self.spec: GameSpec = version.spec
        self.actor: Policy = version.actor
        """For rows of many games: `actor.act(columns, draws)`."""
        self._layout = ActionLayout(version.spec.action)
        self._rng = np.random.default_rng(seed)
        self._state: dict[str, NDArray[Any]] = {}
        self.reset()

    def reset(self) -> None:
        """Begin another game: forget the recurrent state."""
        self._state = {name: np.zeros((1, *shape), np.float32) for name, shape in self.actor.state_shapes.items()}

    def act(self, observation: Any, legal: Any = None, *, sample: bool = False) -> Any:
        """The best action for an observation, as the game's action space has it.

        `legal` is a mask of allowed actions. `sample` draws from the policy's probabilities instead.
        """
        rows = observation_row(self.spec, observation) | self._state
        if legal is not None:
            rows["legal"] = legal_row(self._layout, legal)
        elif self._layout.mask_width is not None:
            rows["legal"] = np.ones((1, self._layout.mask_width), np.bool_)
        if self.actor.placed:
            rows |= {"table": np.zeros(1, np.int64), "seat": np.zeros(1, np.int64)}
        draws = self._rng.random(self._layout.draws_shape(1), np.float32) if sample else None
        decided = self.actor.act(rows, draws)
        self._remember(decided)
        return self._layout.to_environment(decided["action"][0])

    def _remember(self, decided: Columns) -> None:
        self._state = {name: decided[name] for name in self._state}


def observation_row(spec: GameSpec, observation: Any) -> dict[str, NDArray[Any]]:
    """One observation, as the game's space has it, as columns of one row."""
    parts = spec.observation_parts
    return {f"obs/{name}" if name else "obs": _row(name, part, _at(observation, name)) for name, part in parts.items()}


def legal_row(layout: ActionLayout, legal: Any) -> NDArray[np.bool_]:
    """One mask of allowed actions as a row."""
    mask = np.asarray(legal, np.bool_).reshape(1, -1)
    if layout.mask_width is None:
        raise ValueError("legal: actions of this game have no mask")
    if mask.shape[1] != layout.mask_width:
        raise ValueError(f"legal has {mask.shape[1]} entries, the game has {layout.mask_width} actions")
    return mask


def _at(observation: Any, path: str) -> Any:
    """The part of a Dict or Tuple at this path."""
    for step in path.split("/") if path else ():
        try:
            observation = observation[step if isinstance(observation, Mapping) else int(step)]
        except (KeyError, IndexError, TypeError, ValueError):
            raise ValueError(f"the observation has no part {path!r}") from None
    return observation


def _row(name: str, part: Part, value: Any) -> NDArray[Any]:
    array = np.asarray(value, part.dtype)
    if array.shape != part.shape:
        where = f"part {name!r} of the observation" if name else "the observation"
        raise ValueError(f"{where} has the shape {array.shape}, the game has {part.shape}")
    return array[None]
