"""Any PettingZoo game with discrete actions: AEC games as turn-based, parallel ones as simultaneous."""

from typing import Any, Literal

import pettingzoo
from pettingzoo.env_registry.exceptions import PettingZooRegistryError

from workers.games.environments import AgentObservation, EnvironmentGame, factory
from workers.games.errors import BadGame
from workers.games.observation_encoder import ObservationEncoder, action_count, observation_encoder
from workers.games.protocol import GameSpec
from workers.games.teams import Teams, ask_for_teams, declared_teams

_FUNCTIONS = frozenset({"env", "raw_env", "parallel_env"})
"""What PettingZoo's own modules call the functions that make an environment; they have no annotation."""


class _PettingZooGame(EnvironmentGame):
    """`env` is a registered id ("classic/tictactoe_v3") or `module:attr`; `options` go to it.

    `module:attr` is a subclass of AECEnv or ParallelEnv, a function annotated to return one, or a function that is
    named as PettingZoo names its own: env, raw_env, parallel_env.

    Seats are the environment's `possible_agents`, in their order. Games are cut off at `max_steps`.
    PettingZoo does not say whether players see everything, so hidden information is assumed. Nor does it say which
    agents play together: `teams` does.
    """

    kind: Literal["aec", "parallel"]

    def __init__(
        self,
        *,
        tables: int,
        env: str,
        options: dict[str, Any] | None = None,
        max_steps: int = 1000,
        hidden_information: bool = True,
        teams: Teams | None = None,
    ) -> None:
        environments = [_make(self.kind, env, options or {}) for _ in range(tables)]
        agents = _agents(environments[0], env)
        encoders, counts = _spaces(environments[0], agents, env)
        spec = GameSpec(
            id=f"pettingzoo/{env}",
            seats=len(agents),
            actions=max(counts),
            observation_shape=encoders[0].shape,
            simultaneous=self.kind == "parallel",
            hidden_information=hidden_information,
            max_steps=max_steps,
            teams=declared_teams(teams, [str(agent) for agent in agents], env),
        )
        super().__init__(spec, environments, encoders, counts)
        self._agents = agents
        if teams is None and len(agents) > 2:
            self.teams_question = ask_for_teams(env, [str(agent) for agent in agents])
        self._seat_of = {agent: seat for seat, agent in enumerate(agents)}


class AecGame(_PettingZooGame):
    """A turn-based PettingZoo game (its AEC interface); seats that are out of the game are skipped."""

    kind = "aec"

    def _start(self, table: int, seed: int) -> None:
        self._environments[table].reset(seed=seed)

    def _acting(self, table: int) -> list[AgentObservation]:
        env = self._environments[table]
        agent = env.agent_selection
        return [AgentObservation(self._seat_of[agent], env.observe(agent), env.infos[agent])]

    def _play(self, table: int, seats: list[int], actions: list[int]) -> tuple[dict[int, float], bool, bool]:
        env = self._environments[table]
        env.step(actions[0])
        rewards = {self._seat_of[agent]: float(reward) for agent, reward in env.rewards.items()}
        cut = any(env.truncations.values()) and not any(env.terminations.values())
        # PettingZoo keeps an agent that is out of the game until it has been stepped once more, with None.
        while env.agents and _is_out(env, env.agent_selection):
            env.step(None)
        over = not env.agents
        return rewards, over, over and cut


class ParallelGame(_PettingZooGame):
    """A simultaneous PettingZoo game. Rows of a turn grow fewer when agents leave before the end."""

    kind = "parallel"

    def _start(self, table: int, seed: int) -> None:
        self._last[table] = self._environments[table].reset(seed=seed)

    def _acting(self, table: int) -> list[AgentObservation]:
        values, infos = self._last[table]
        alive = set(self._environments[table].agents)
        return [
            AgentObservation(seat, values[agent], infos.get(agent, {}))
            for seat, agent in enumerate(self._agents)
            if agent in alive
        ]

    def _play(self, table: int, seats: list[int], actions: list[int]) -> tuple[dict[int, float], bool, bool]:
        env = self._environments[table]
        chosen = {self._agents[seat]: action for seat, action in zip(seats, actions, strict=True)}
        values, rewards, terminations, truncations, infos = env.step(chosen)
        self._last[table] = (values, infos)
        over = not env.agents
        cut = any(truncations.values()) and not any(terminations.values())
        return {self._seat_of[agent]: float(r) for agent, r in rewards.items()}, over, over and cut


def _is_out(env: Any, agent: Any) -> bool:
    return bool(env.terminations[agent] or env.truncations[agent])


def _make(kind: Literal["aec", "parallel"], env: str, options: dict[str, Any]) -> Any:
    wanted = pettingzoo.AECEnv if kind == "aec" else pettingzoo.ParallelEnv
    if ":" in env:
        made = factory(env, wanted, _FUNCTIONS)(**options)
    else:
        try:
            made = pettingzoo.make(kind, env, **options)
        except PettingZooRegistryError as error:
            raise BadGame(f"PettingZoo cannot make {env!r} as {kind}: {error}") from error
    if not isinstance(made, wanted):
        raise BadGame(f"{env} makes a {type(made).__name__}; allowed: {wanted.__name__}")
    return made


def _agents(environment: Any, env: str) -> list[Any]:
    agents = list(getattr(environment, "possible_agents", []))
    if not agents:
        raise BadGame(f"{env}: it has no possible_agents, so its seats are unknown")
    return agents


def _spaces(environment: Any, agents: list[Any], env: str) -> tuple[list[ObservationEncoder], list[int]]:
    """Each seat's observation encoder and number of actions; all seats share one network, so shapes must agree."""
    encoders = [observation_encoder(environment.observation_space(agent), env) for agent in agents]
    shapes = {encoder.shape for encoder in encoders}
    if len(shapes) > 1:
        raise BadGame(f"{env}: agents observe different shapes {sorted(shapes)}; allowed: one for all")
    return encoders, [action_count(environment.action_space(agent), env) for agent in agents]
