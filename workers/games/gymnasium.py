"""Any Gymnasium environment with discrete actions, as a single-seat game whose returns are tallied."""

from typing import Any

import gymnasium

from workers.games.environments import AgentObservation, EnvironmentGame, factory
from workers.games.errors import BadGame
from workers.games.observation_encoder import action_count, observation_encoder
from workers.games.protocol import GameSpec


class GymnasiumGame(EnvironmentGame):
    """`env` is a registered id ("CartPole-v1") or `module:attr`, a subclass of
    `gymnasium.Env` or a function annotated to return one; `options` go to it.

    `max_steps` cuts games short; it may be left out where the environment has a limit of its own. An
    `action_mask` in the info is the legal mask.
    """

    def __init__(
        self, *, tables: int, env: str, options: dict[str, Any] | None = None, max_steps: int | None = None
    ) -> None:
        first = _make(env, options or {})
        limit = first.spec.max_episode_steps if first.spec is not None else None
        if max_steps is None and limit is None:
            raise BadGame(f"{env}: it has no step limit of its own; set max_steps")
        encoder = observation_encoder(first.observation_space, env)
        actions = action_count(first.action_space, env)
        spec = GameSpec(
            id=f"gymnasium/{env}",
            seats=1,
            actions=actions,
            observation_shape=encoder.shape,
            max_steps=min(steps for steps in (max_steps, limit) if steps is not None),
            scoring="returns",
        )
        others = [_make(env, options or {}) for _ in range(tables - 1)]
        super().__init__(spec, [first, *others], [encoder], [actions])

    def _start(self, table: int, seed: int) -> None:
        value, info = self._environments[table].reset(seed=seed)
        self._last[table] = AgentObservation(0, value, info)

    def _acting(self, table: int) -> list[AgentObservation]:
        return [self._last[table]]

    def _play(self, table: int, seats: list[int], actions: list[int]) -> tuple[dict[int, float], bool, bool]:
        value, reward, terminated, truncated, info = self._environments[table].step(actions[0])
        self._last[table] = AgentObservation(0, value, info)
        return {0: float(reward)}, terminated or truncated, truncated and not terminated


def _make(env: str, options: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    if ":" in env:
        made = factory(env, gymnasium.Env)(**options)
        if not isinstance(made, gymnasium.Env):
            raise BadGame(f"{env} makes a {type(made).__name__}; allowed: gymnasium.Env")
        return made
    try:
        return gymnasium.make(env, **options)
    except gymnasium.error.Error as error:
        raise BadGame(f"Gymnasium cannot make {env!r}: {error}") from error
