"""Actors: what turns rows of observations into rows of actions, in rollouts, matches and serving."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from workers.games.protocol import VectorGame

Columns = Mapping[str, NDArray[Any]]
"""Named arrays of equal length. Observations are "obs" or, of several parts, "obs/<part>"; masks are "legal"."""

Rate = float | NDArray[np.float32]
"""An exploration rate: one for all rows, or one for each."""

STATE = "state"
"""Name, or first part of the names, of the columns that hold a recurrent state."""


class Actor(Protocol):
    """Decides rows; no row depends on another."""

    @property
    def state_shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The recurrent state's columns and the shape of a row of each; empty for an actor without memory."""

    def act(self, rows: Columns, draws: NDArray[np.float32] | None, explore: Rate = 0.0) -> Columns:
        """One "action" a row, and whatever else a learner wants to see again ("log_prob", "value", ...).

        `rows` are observations, masks and the state before; the state after comes back under the same names. `draws`
        are uniform in [0, 1); None chooses the best action. `explore` is the exploration rate of actors that have one:
        a number, or one for each row where the algorithm's `explore_at` says so.
        """


@runtime_checkable
class GameActor(Actor, Protocol):
    """An actor that needs the positions at the tables, not only what they show: one that searches.

    A sampler lets it `watch` its game before the first decision. The rows of `act` have the column "table" then.
    """

    def watch(self, game: VectorGame) -> None:
        """Decide by the positions of this game from now on."""

    def judge(self, rows: Columns) -> Columns:
        """The same columns as those of `act`, for final observations, whose positions are gone; nothing is played."""
