"""Any Gymnasium environment, as a single-seat game whose returns are tallied."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import gymnasium

from workers.games.adapters import cart_pole_pomdp
from workers.games.adapters.drivers import AgentObservation, Driver, Played, TableSetup
from workers.games.adapters.environments import DrivenGame, Tables, check_variants, factory
from workers.games.adapters.gymnasium_vector import VectorTables, has_vector, make_vector
from workers.games.adapters.observation_encoder import observation_encoder
from workers.games.adapters.table_arrays import Layout, TableArrays
from workers.games.errors import BadGame
from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout, check_action


class GymnasiumGame(DrivenGame):
    """`env` is a registered id ("CartPole-v1") or `module:attr`, a subclass of
    `gymnasium.Env` or a function annotated to return one; `options` go to it.

    `max_steps` cuts games short; it may be left out where the environment has a limit of its own. An
    `action_mask` in the info is the legal mask. `variants` are further options, of which each game draws one from its
    seed. `workers` is the number of processes that step the environments; 0 steps them here. `vector: true` trains on
    the environment's own vector entry point.
    """

    def __init__(
        self,
        *,
        tables: int,
        env: str,
        options: dict[str, Any] | None = None,
        max_steps: int | None = None,
        variants: list[dict[str, Any]] | None = None,
        workers: int = 0,
        vector: bool = False,
    ) -> None:
        each = check_variants(env, options, variants)
        first = _make(env, each[0])
        limit = first.spec.max_episode_steps if first.spec is not None else None
        if max_steps is None and limit is None:
            raise BadGame(f"{env}: it has no step limit of its own; set max_steps")
        check_action(env, first.action_space)
        encoder, action = observation_encoder(first.observation_space, env), ActionLayout(first.action_space)
        spec = GameSpec(
            id=f"gymnasium/{env}",
            seats=1,
            action=first.action_space,
            observation=encoder.space,
            max_steps=min(steps for steps in (max_steps, limit) if steps is not None),
            scoring="returns",
        )
        for number, other in enumerate(each[1:], start=1):
            _refuse_other_spaces(env, first, _make(env, other), number)
        make = partial(_make_variant, env, each)
        super().__init__(
            spec,
            tables,
            lambda layout: TableSetup(
                layout=layout, driver=partial(GymnasiumDriver, make, len(each)), encoders=(encoder,), actions=(action,)
            ),
            workers,
        )
        if vector and (workers or variants):
            raise BadGame(f"{env}: vector: true goes with neither workers nor variants")
        if vector and not has_vector(env):
            raise BadGame(f"{env}: it has no vector entry point; leave vector out")
        if vector and max_steps is not None and limit is not None and max_steps < limit:
            raise BadGame(f"{env}: vector: true needs max_steps of at least the environment's own {limit}")
        self._vector = partial(make_vector, env, each[0]) if vector else None
        self._encoder = encoder
        self.seeds_fix_games = not vector

    def _open(self) -> tuple[TableArrays, Tables]:
        # Games that others choose (matches, replays) are reset one by one, which vector environments cannot do.
        if self._vector is None or not self.auto_reset:
            return super()._open()
        layout = Layout(self.spec, self.tables)
        arrays = TableArrays.over(layout)
        return arrays, VectorTables(self._vector(self.tables), arrays, self._encoder, self.layout, self.plies)


class GymnasiumDriver(Driver):
    """One environment."""

    def _reset(self, seed: int) -> None:
        value, info = self.env.reset(seed=seed)
        self._last = AgentObservation(0, value, info)

    def acting(self) -> list[AgentObservation]:
        return [self._last]

    def play(self, seats: Sequence[int], actions: Sequence[Any]) -> Played:
        value, reward, terminated, truncated, info = self.env.step(actions[0])
        self._last = AgentObservation(0, value, info)
        return Played({0: float(reward)}, bool(terminated or truncated), bool(truncated and not terminated))


def _make_variant(env: str, variants: list[dict[str, Any]], number: int) -> gymnasium.Env[Any, Any]:
    return _make(env, variants[number])


def _make(env: str, options: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    if ":" in env:
        made = factory(env, gymnasium.Env)(**options)
        if not isinstance(made, gymnasium.Env):
            raise BadGame(f"{env} makes a {type(made).__name__}; allowed: gymnasium.Env")
        return made
    cart_pole_pomdp.register()
    try:
        return gymnasium.make(env, **options)
    except gymnasium.error.Error as error:
        raise BadGame(f"Gymnasium cannot make {env!r}: {error}") from error


def _refuse_other_spaces(env: str, first: Any, other: Any, number: int) -> None:
    for name in ("observation_space", "action_space"):
        if getattr(first, name) != getattr(other, name):
            raise BadGame(
                f"{env}: variant {number} has the {name} {getattr(other, name)}, the first {getattr(first, name)}; "
                "allowed: one for all"
            )
