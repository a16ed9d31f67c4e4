"""The agents of a game by name: loaded once, made anew for each session."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orchestrator.catalog import Kind, load_maker
from workers.agents.agent import Agent, check_class
from workers.agents.codec import SpecCodec
from workers.agents.errors import AgentError, BadAgent
from workers.agents.serializers import Serializer, serializer_of
from workers.games.protocol import GameSpec
from workers.gateway.contract import MAIN_AGENT, Refused

_MOST_CODECS = 16


@dataclass(frozen=True, slots=True)
class AgentFactory:
    """Makes one agent of each session."""

    cls: type[Agent]
    serializer: Serializer
    options: Mapping[str, Any] = field(default_factory=dict)
    episode_length: int | None = None

    def make(self) -> Agent:
        agent = self.cls(**self.options)
        if self.episode_length is not None:
            agent.episode_length = self.episode_length
        return agent


class AgentSet:
    """Which agents play the sessions of a game.

    Under each name there are one or more agents: all of them get every request for this name, and the first that
    returns something answers it. `names` is empty where the same agents play under any name.
    """

    def __init__(self, named: Mapping[str, Sequence[AgentFactory]]) -> None:
        if not named or not all(named.values()):
            raise BadAgent("a game needs at least one agent")
        self._named = {name: tuple(factories) for name, factories in named.items()}
        self.names = () if MAIN_AGENT in named else tuple(named)
        self._codecs: dict[int, SpecCodec] = {}

    def at(self, name: str) -> tuple[AgentFactory, ...]:
        """The agents that play under this name; raises Refused for a name that there is none for."""
        factories = self._named.get(name) or (self._named.get(MAIN_AGENT) if not self.names else None)
        if factories is None:
            given = repr(name) if name else "without a name"
            raise Refused(404, f"there is no agent {given}; this game has {', '.join(self.names)}")
        return factories

    def seat_of(self, name: str, spec: GameSpec) -> int | None:
        """The seat of an agent by its name: a number, or its place among the names if there is one for each seat."""
        if name.isdecimal() and int(name) < spec.seats:
            return int(name)
        if name in self.names and len(self.names) == spec.seats:
            return self.names.index(name)
        return 0 if spec.seats == 1 else None

    def codec(self, spec: GameSpec) -> SpecCodec:
        """The spaces of this spec; made once."""
        found = self._codecs.get(id(spec))
        if found is None:
            if len(self._codecs) >= _MOST_CODECS:
                self._codecs.clear()
            found = self._codecs[id(spec)] = SpecCodec(spec)
        return found


def load_agents(named: Any, *, episode_length: int | None = None) -> AgentSet:
    """Load agents as a trial file names them.

    `module:Class`, or `{id: module:Class, options: {...}}`; a list of these, which all get every tick; or a mapping of
    the names that the game calls its agents to any of these. Raises BadAgent, or CatalogError for names that do not
    load.
    """
    if isinstance(named, AgentSet):
        return named
    if isinstance(named, Mapping) and "id" not in named:
        if any(not isinstance(name, str) or not name for name in named):
            raise BadAgent("agents by name: each name must be a text that is not empty")
        return AgentSet({name: _factories(value, episode_length) for name, value in named.items()})
    return AgentSet({MAIN_AGENT: _factories(named, episode_length)})


def _factories(named: Any, episode_length: int | None) -> list[AgentFactory]:
    listed = named if isinstance(named, list | tuple) else [named]
    return [_factory(each, episode_length) for each in listed]


def _factory(named: Any, episode_length: int | None) -> AgentFactory:
    options: Mapping[str, Any] = {}
    if isinstance(named, Mapping):
        if unknown := sorted(named.keys() - {"id", "options"}):
            raise BadAgent(f"an agent has no field {', '.join(unknown)}; allowed: id, options")
        named, options = named["id"], named.get("options") or {}
    cls = named if isinstance(named, type) else _loaded(named)
    if not issubclass(cls, Agent):
        raise BadAgent(f"{cls.__module__}.{cls.__qualname__} is no subclass of lanista.agents.Agent")
    try:
        check_class(cls)
        inspect.signature(cls).bind(**options)
        return AgentFactory(cls, serializer_of(cls.serializer), dict(options), episode_length)
    except (AgentError, TypeError) as error:
        raise BadAgent(f"agent {cls.__module__}:{cls.__qualname__}: {error}") from error


def _loaded(name: Any) -> type[Agent]:
    if not isinstance(name, str):
        raise BadAgent(f"an agent is named by {name!r}; allowed: module:Class")
    loaded: type[Agent] = load_maker(Kind.AGENT, name, Agent, wanted="a subclass of lanista.agents.Agent")
    if not isinstance(loaded, type):
        raise BadAgent(f"agent {name!r} is a function; allowed: a subclass of lanista.agents.Agent")
    return loaded
