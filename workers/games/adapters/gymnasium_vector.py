"""Environments that step all tables themselves: Gymnasium's vector entry points.

They draw the starts of later games from a generator of their own, which no seed of one game can set. So rollouts are
reproducible from the reset of all tables, and games that others choose (matches, replays) use the plain environment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from workers.games.adapters.observation_encoder import ObservationEncoder
from workers.games.adapters.table_arrays import TableArrays
from workers.games.errors import BadGame
from workers.games.seeding import mix_ints
from workers.games.spaces import ActionLayout, leaves


def has_vector(env: str) -> bool:
    """Whether the environment is registered with a vector entry point."""
    known = None if ":" in env else gymnasium.registry.get(env)
    return known is not None and known.vector_entry_point is not None


def make_vector(env: str, options: dict[str, Any], tables: int) -> Any:
    """The environment's own vector of this many tables."""
    try:
        return gymnasium.make_vec(env, tables, vectorization_mode="vector_entry_point", **options)
    except gymnasium.error.Error as error:
        raise BadGame(f"Gymnasium cannot make the vector of {env!r}: {error}") from error


class VectorTables:
    """All tables as one vector environment. A table whose next game begins a step late has no row in that step."""

    def __init__(
        self,
        env: Any,
        arrays: TableArrays,
        encoder: ObservationEncoder,
        action: ActionLayout,
        plies: NDArray[np.int64],
    ) -> None:
        self._env, self._arrays, self._action, self._plies = env, arrays, action, plies
        self._mode = env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        self._names = [name for name, _ in leaves(encoder.given)]
        if encoder.masked or any(arrays.observations[name].dtype == object for name in self._names):
            raise BadGame("vector: true needs observations without a mask")
        self._encoder = encoder

    def start(self, tables: Sequence[int], seeds: Sequence[int]) -> None:
        """Reset all tables, or let these begin their next game."""
        arrays = self._arrays
        if len(tables) == len(arrays.acting):
            seen, _ = self._env.reset(seed=mix_ints(*seeds) >> 33)
            self._show(seen)
            arrays.acting[:] = 1
            if arrays.legal is not None:
                arrays.legal[:] = True
            return
        if self._mode == AutoresetMode.DISABLED:
            mask = np.zeros(len(arrays.acting), np.bool_)
            mask[list(tables)] = True
            self._show(self._env.reset(options={"reset_mask": mask})[0])
        elif self._mode == AutoresetMode.NEXT_STEP:
            arrays.acting[list(tables)] = 0
        else:
            arrays.acting[list(tables)] = 1
            self._show(self._seen)

    def step(self) -> None:
        """Play the actions in the arrays."""
        arrays = self._arrays
        late = arrays.acting == 0
        actions = arrays.actions
        if late.any():
            actions = actions.copy()
            actions[late] = self._action.any_legal(int(late.sum()), None)
        self._seen, rewards, terminated, truncated, info = self._env.step(actions)
        self._show(self._seen)
        arrays.rewards[:, 0] = np.where(late, 0, rewards)
        arrays.done[:] = (terminated | truncated) & ~late
        arrays.truncated[:] = truncated & ~terminated & ~late
        arrays.acting[:] = 1
        if self._mode == AutoresetMode.SAME_STEP and arrays.truncated.any():
            self._show_finals(np.flatnonzero(arrays.truncated).tolist(), info.get("final_obs"))
        self._plies[late] = -1  # the step that resets a game is not one of its plies

    def text(self, table: int) -> str | None:
        """Vector environments show no single table."""

    def _show_finals(self, tables: list[int], finals: Any) -> None:
        """Show how these games ended instead of the next games' starts; no row where the environment does not say."""
        for table in tables:
            if finals is None:
                self._arrays.acting[table] = 0
            else:
                self._encoder.write(finals[table], {name: of[table] for name, of in self._arrays.observations.items()})

    def _show(self, seen: Any) -> None:
        for name in self._names:
            part = seen
            for key in name.split("/") if name else ():
                part = part[key] if isinstance(part, dict) else part[int(key)]
            self._arrays.observations[name][...] = part
