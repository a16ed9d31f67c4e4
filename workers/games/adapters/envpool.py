"""Environments of EnvPool (Atari, MuJoCo, classic control, ...): all tables are stepped in C++.

EnvPool seeds an environment once, when it is made; its later games draw on. A rollout is therefore reproducible from
the reset of its tables, which makes the environments anew. Games that others choose (matches, replays) are each played
by an environment of their own, made with the game's seed.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workers.games.adapters.environments import EnvironmentGame, Tables
from workers.games.adapters.observation_encoder import ObservationEncoder, observation_encoder
from workers.games.adapters.table_arrays import Layout, TableArrays
from workers.games.errors import BadGame
from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout, check_action, leaves

_OWN = {"env_type", "num_envs", "batch_size", "num_threads", "seed", "base_path"}
INSTALL = 'pip install "lanista[envpool]"'


class EnvPoolGame(EnvironmentGame):
    """`env` is a task of EnvPool ("Pong-v5"); `options` go to `envpool.make`; `threads` step the tables.

    `max_steps` cuts games short; it may be left out where the environment has a limit of its own.
    """

    def __init__(
        self,
        *,
        tables: int,
        env: str,
        options: dict[str, Any] | None = None,
        max_steps: int | None = None,
        threads: int = 1,
    ) -> None:
        self._pools = _Pools(env, options or {}, threads)
        first = self._pools.make([0])
        limit = int(getattr(first.spec.config, "max_episode_steps", 0)) or None
        if max_steps is None and limit is None:
            raise BadGame(f"{env}: it has no step limit of its own; set max_steps")
        if int(getattr(first.spec.config, "max_num_players", 1)) > 1:
            raise BadGame(f"{env}: it has several players; the adapter plays environments of one")
        with _no_warnings():
            action, observation = first.action_space, first.observation_space
        check_action(env, action)
        self._encoder = observation_encoder(observation, env)
        if any(not isinstance(leaf, spaces.Box) for _, leaf in leaves(self._encoder.given)):
            raise BadGame(f"{env}: observations are {observation}; allowed: Box, and Dict of Boxes")
        spec = GameSpec(
            id=f"envpool/{env}",
            seats=1,
            action=action,
            observation=self._encoder.space,
            max_steps=min(steps for steps in (max_steps, limit) if steps is not None),
            scoring="returns",
        )
        super().__init__(spec, tables)
        self.seeds_fix_games = False

    def _open(self) -> tuple[TableArrays, Tables]:
        arrays = TableArrays.over(Layout(self.spec, self.tables))
        arrays.acting[:] = 1
        if arrays.legal is not None:
            arrays.legal[:] = True
        kind = _OnePool if self.auto_reset else _PoolPerTable
        return arrays, kind(self._pools, arrays, self._encoder, self.layout)

    def reset(self, seeds: NDArray[np.uint64]) -> None:
        self._opened = False  # `auto_reset` may have changed, and a pool is seeded only when it is made
        super().reset(seeds)


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Gymnasium warns of bounds that lose precision as float32."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class _Pools:
    """Makes pools of one task."""

    def __init__(self, env: str, options: dict[str, Any], threads: int) -> None:
        self._env, self._options, self._threads = env, options, threads
        try:
            self._envpool = importlib.import_module("envpool")
        except ImportError as error:
            raise BadGame(f"game 'envpool' needs EnvPool, which is not installed ({error}): {INSTALL}") from error
        if _OWN & options.keys():
            raise BadGame(f"{env}: options {', '.join(sorted(_OWN & options.keys()))} are set by the adapter")
        if env not in self._envpool.list_all_envs():
            raise BadGame(f"EnvPool has no task {env!r}; `envpool.list_all_envs()` lists them")

    def make(self, seeds: Sequence[int]) -> Any:
        """A pool with one environment for each of these seeds."""
        with _no_warnings():
            try:
                pool = self._envpool.make(
                    self._env,
                    env_type="gymnasium",
                    num_envs=len(seeds),
                    seed=[seed & 0x7FFFFFFF for seed in seeds],
                    num_threads=min(self._threads, len(seeds)),
                    **self._options,
                )
                # Lazy properties: accessed here, so that errors are raised here.
                assert pool.observation_space is not None and pool.action_space is not None
            except (TypeError, ValueError, AssertionError) as error:
                raise BadGame(f"EnvPool cannot make {self._env!r} with {self._options}: {error}") from error
            return pool


class _PoolTables:
    """Tables over the arrays."""

    def __init__(self, pools: _Pools, arrays: TableArrays, encoder: ObservationEncoder, action: ActionLayout) -> None:
        self._pools, self._arrays = pools, arrays
        self._names = [name for name, _ in leaves(encoder.given)]
        self._kind = action.space.dtype
        self._start = int(action.space.start) if isinstance(action.space, spaces.Discrete) else 0

    def text(self, table: int) -> str | None:
        """EnvPool draws no text."""

    def _show(self, seen: Any, rows: Any) -> None:
        for name in self._names:
            part = seen
            for key in name.split("/") if name else ():
                part = part[key]
            target = self._arrays.observations[name]
            target[rows] = part.reshape(-1, *target.shape[1:])

    def _play(self, pool: Any, rows: Any) -> None:
        chosen = np.asarray(self._arrays.actions[rows] + self._start, self._kind)
        seen, rewards, terminated, truncated, _ = pool.step(chosen)
        self._show(seen, rows)
        self._arrays.rewards[rows, 0] = rewards
        self._arrays.done[rows] = terminated | truncated
        self._arrays.truncated[rows] = truncated & ~terminated


class _OnePool(_PoolTables):
    """One pool of all tables, for rollouts."""

    def start(self, tables: Sequence[int], seeds: Sequence[int]) -> None:
        if len(tables) == len(self._arrays.acting) and not hasattr(self, "_pool"):
            self._pool = self._pools.make(seeds)
            self._show(self._pool.reset()[0], slice(None))
            return
        seen, info = self._pool.reset(np.array(tables, np.int32))
        self._show(seen, info["env_id"])

    def step(self) -> None:
        self._play(self._pool, slice(None))


class _PoolPerTable(_PoolTables):
    """A pool for each game, for matches and replays."""

    def start(self, tables: Sequence[int], seeds: Sequence[int]) -> None:
        self._made: dict[int, Any] = getattr(self, "_made", {})
        for table, seed in zip(tables, seeds, strict=True):
            self._made[table] = self._pools.make([seed])
            self._show(self._made[table].reset()[0], slice(table, table + 1))

    def step(self) -> None:
        for table, pool in self._made.items():
            self._play(pool, slice(table, table + 1))
