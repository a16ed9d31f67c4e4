"""Observations of other libraries' environments as arrays, and the number of their actions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workers.games.errors import BadGame


@dataclass(frozen=True)
class ObservationEncoder:
    """Encodes an agent's observations as rows of numbers; a legal mask within them is read separately."""

    space: spaces.Space[Any]
    shape: tuple[int, ...]
    masked: bool

    def write(self, shown: Any, row: NDArray[np.float32]) -> None:
        value = shown["observation"] if self.masked else shown
        flat: Any = value if isinstance(self.space, spaces.Box) else spaces.flatten(self.space, value)
        row[...] = flat

    def mask(self, shown: Any, info: dict[str, Any]) -> Any:
        """The legal actions as the environment gives them, in the observation or in the info; or None."""
        return shown["action_mask"] if self.masked else info.get("action_mask")


def observation_encoder(space: spaces.Space[Any], game: str) -> ObservationEncoder:
    """The encoder of a space: a box keeps its shape; everything else is flattened, discrete parts one-hot."""
    masked = isinstance(space, spaces.Dict) and set(space.keys()) == {"observation", "action_mask"}
    inner = space["observation"] if masked else space  # type: ignore[index]
    if isinstance(inner, spaces.Box):
        return ObservationEncoder(inner, inner.shape or (1,), masked)
    try:
        return ObservationEncoder(inner, (spaces.flatdim(inner),), masked)
    except (ValueError, NotImplementedError) as error:
        raise BadGame(f"{game}: observations of {inner} have no fixed size: {error}") from error


def action_count(space: spaces.Space[Any], game: str) -> int:
    """The number of actions; only discrete ones can be masked, tallied and replayed."""
    if not isinstance(space, spaces.Discrete):
        raise BadGame(f"{game}: actions are {space}; allowed: Discrete")
    if space.start != 0:
        raise BadGame(f"{game}: its actions start at {space.start}; allowed: Discrete from 0")
    return int(space.n)
