"""Any PettingZoo game: AEC games as turn-based, parallel ones as simultaneous."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Literal

import pettingzoo
from gymnasium import spaces
from pettingzoo.env_registry.exceptions import PettingZooRegistryError

from workers.games.adapters.drivers import AgentObservation, Driver, Played, TableSetup
from workers.games.adapters.environments import DrivenGame, check_variants, factory
from workers.games.adapters.observation_encoder import observation_encoder
from workers.games.errors import BadGame
from workers.games.protocol import GameSpec
from workers.games.spaces import ActionLayout, check_action, observation_parts
from workers.games.teams import Teams, ask_for_teams, declared_teams

_FUNCTIONS = frozenset({"env", "raw_env", "parallel_env"})
"""What PettingZoo's own modules call the functions that make an environment; they have no annotation."""


class _PettingZooGame(DrivenGame):
    """`env` is a registered id ("classic/tictactoe_v3") or `module:attr`; `options` go to it.

    `module:attr` is a subclass of AECEnv or ParallelEnv, a function annotated to return one, or a function that is
    named as PettingZoo names its own: env, raw_env, parallel_env.

    Seats are the environment's `possible_agents`, in their order. Games are cut off at `max_steps`.
    PettingZoo does not say whether players see everything, so hidden information is assumed. Nor does it say which
    agents play together: `teams` does. `variants` are further
    options, of which each game draws one from its seed. `workers` is the number of processes that step the
    environments; 0 steps them here.
    """

    kind: Literal["aec", "parallel"]
    driver: type[_PettingZooDriver]

    def __init__(
        self,
        *,
        tables: int,
        env: str,
        options: dict[str, Any] | None = None,
        max_steps: int = 1000,
        hidden_information: bool = True,
        teams: Teams | None = None,
        variants: list[dict[str, Any]] | None = None,
        workers: int = 0,
    ) -> None:
        each = check_variants(env, options, variants)
        made = [_Environment(_make(self.kind, env, of), env) for of in each]
        agents, encoders, actions = made[0].agents, made[0].encoders, made[0].actions
        for number, other in enumerate(made[1:], start=1):
            if other.spaces != made[0].spaces:
                raise BadGame(f"{env}: variant {number} has other agents or spaces than the first")
        spec = GameSpec(
            id=f"pettingzoo/{env}",
            seats=len(agents),
            action=max((layout.space for layout in actions), key=_size),
            observation=encoders[0].space,
            simultaneous=self.kind == "parallel",
            hidden_information=hidden_information,
            max_steps=max_steps,
            teams=declared_teams(teams, [str(agent) for agent in agents], env),
            state=made[0].state if self.kind == "parallel" else None,
        )
        driver = partial(self.driver, agents, partial(_make_variant, self.kind, env, each), len(each))
        super().__init__(
            spec,
            tables,
            lambda layout: TableSetup(layout=layout, driver=driver, encoders=tuple(encoders), actions=tuple(actions)),
            workers,
        )
        if teams is None and len(agents) > 1:
            question = ask_for_teams(env, [str(agent) for agent in agents])
            if len(agents) > 2:
                self.teams_question = question
            else:
                self.teams_question_if_equal = f"{question}: in random play all earned the same"


class _PettingZooDriver(Driver):
    """One environment; seats are numbered by its agents."""

    def __init__(self, agents: list[Any], make: Any, variants: int) -> None:
        super().__init__(make, variants)
        self._agents = agents
        self._seat_of = {agent: seat for seat, agent in enumerate(agents)}


class AecDriver(_PettingZooDriver):
    """One turn-based environment."""

    def _reset(self, seed: int) -> None:
        self.env.reset(seed=seed)

    def acting(self) -> list[AgentObservation]:
        agent = self.env.agent_selection
        return [AgentObservation(self._seat_of[agent], self.env.observe(agent), self.env.infos[agent])]

    def play(self, seats: Sequence[int], actions: Sequence[Any]) -> Played:
        env = self.env
        env.step(actions[0])
        rewards = {self._seat_of[agent]: float(reward) for agent, reward in env.rewards.items()}
        cut = any(env.truncations.values()) and not any(env.terminations.values())
        self._final = self.acting() if cut else []
        # PettingZoo keeps an agent that is out of the game until it has been stepped once more, with None.
        while env.agents and _is_out(env, env.agent_selection):
            env.step(None)
        over = not env.agents
        return Played(rewards, over, over and cut)

    def final(self) -> list[AgentObservation]:
        """The seat whose turn it was when all were truncated."""
        return self._final


class ParallelDriver(_PettingZooDriver):
    """One simultaneous environment."""

    def _reset(self, seed: int) -> None:
        self._last = self.env.reset(seed=seed)

    def acting(self) -> list[AgentObservation]:
        return self._shown(self.env.agents)

    def final(self) -> list[AgentObservation]:
        """The seats that were truncated together."""
        return self._shown(self._cut)

    def _shown(self, agents: Iterable[Any]) -> list[AgentObservation]:
        values, infos = self._last
        alive = set(agents)
        return [
            AgentObservation(seat, values[agent], infos.get(agent, {}))
            for seat, agent in enumerate(self._agents)
            if agent in alive
        ]

    def play(self, seats: Sequence[int], actions: Sequence[Any]) -> Played:
        chosen = {self._agents[seat]: action for seat, action in zip(seats, actions, strict=True)}
        values, rewards, terminations, truncations, infos = self.env.step(chosen)
        self._last = (values, infos)
        self._cut = [agent for agent, truncated in truncations.items() if truncated]
        over = not self.env.agents
        cut = any(truncations.values()) and not any(terminations.values())
        return Played({self._seat_of[agent]: float(r) for agent, r in rewards.items()}, over, over and cut)


class AecGame(_PettingZooGame):
    """A turn-based PettingZoo game (its AEC interface); seats that are out of the game are skipped."""

    kind = "aec"
    driver = AecDriver


class ParallelGame(_PettingZooGame):
    """A simultaneous PettingZoo game. Rows of a turn grow fewer when agents leave before the end."""

    kind = "parallel"
    driver = ParallelDriver


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


class _Environment:
    """The agents of an environment and their spaces; all seats share one network, so these must agree."""

    def __init__(self, environment: Any, env: str) -> None:
        self.agents = _agents(environment, env)
        self.encoders = [observation_encoder(environment.observation_space(agent), env) for agent in self.agents]
        parts = [observation_parts(encoder.space) for encoder in self.encoders]
        shapes = [{name: (part.shape, str(part.dtype)) for name, part in each.items()} for each in parts]
        if any(shape != shapes[0] for shape in shapes):
            raise BadGame(f"{env}: agents observe different shapes {shapes}; allowed: one for all")
        spaces_of = [environment.action_space(agent) for agent in self.agents]
        for space in spaces_of:
            check_action(env, space)
        discrete = all(isinstance(space, spaces.Discrete) for space in spaces_of)
        if not discrete and any(space != spaces_of[0] for space in spaces_of):
            named = ", ".join(map(str, spaces_of))
            raise BadGame(f"{env}: agents have different actions ({named}); allowed: one space for all, or Discrete")
        self.actions = [ActionLayout(space) for space in spaces_of]
        self.state = _state_space(environment)
        self.spaces = (self.agents, shapes, spaces_of, self.state)


def _state_space(environment: Any) -> spaces.Box | None:
    """The space of the environment's `state()`, where it says that it has one."""
    declared = getattr(environment, "state_space", None)
    return declared if isinstance(declared, spaces.Box) else None


def _size(space: spaces.Space[Any]) -> int:
    return int(space.n) if isinstance(space, spaces.Discrete) else 0


def _make_variant(kind: Literal["aec", "parallel"], env: str, variants: list[dict[str, Any]], number: int) -> Any:
    return _make(kind, env, variants[number])
