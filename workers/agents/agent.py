"""The base class of agents: what users write to connect a game that calls in with models."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workers.agents.errors import AgentError
from workers.agents.serializers import Serializer
from workers.games.protocol import GameSpec
from workers.gateway.contract import Episode, SeatCast

if TYPE_CHECKING:
    from workers.agents.part import Part
    from workers.agents.runner import AgentRunner


class Agent:
    """One object for each session that it plays in. A subclass defines `on_tick`, and the others as it needs them.

    All four methods may be `async`; only `async` methods can await a decision. They run in the gateway's event loop: a
    method that blocks holds up every session of the process. What they return is the reply; None is an empty one.
    `__init__` gets the options of the trial file as keywords. The attributes below exist from `on_start` on.
    """

    serializer: str | Serializer = "json"
    """How bodies are read and replies written: `json`, `msgpack`, `raw`, `Protobuf(...)`, or an object of your own."""
    episode_length: int | None = None
    """Decisions of a seat after which its episode is cut, so that long games are learnt from before they end."""

    session: str
    """The name of the game session."""
    name: str
    """What the game calls this agent; empty for a session's only agent."""
    seat: int | None
    """The seat that is meant where a call names none; may be set in `on_start`."""
    spec: GameSpec
    """Spaces, seats and teams of the game."""
    info: Mapping[str, Any]
    """What the session is for: `purpose` is training, match or serving; trial, player, generation where there are."""
    decision: Mapping[str, NDArray[Any]]
    """All that the model returned for this agent's latest decision: action, value, log_prob and so on, one row each."""

    _runner: AgentRunner
    _part: Part
    _rng: np.random.Generator | None = None

    def on_start(self, data: Any) -> Any:
        """The game starts. `data` is the body that it sent."""
        return None

    def on_tick(self, data: Any) -> Any:
        """The game asks for a decision."""
        raise NotImplementedError(f"{type(self).__name__} defines no on_tick")

    def on_episode(self, episode: Episode) -> Any:
        """Decisions of a learning seat are about to be handed to the learner; their columns may be changed in place.

        Return False to drop them.
        """
        return None

    def on_end(self, data: Any) -> Any:
        """The game ended."""
        return None

    @property
    def seats(self) -> Sequence[SeatCast]:
        """Who plays each seat: its name, and whether it learns. `model` is None where the game plays it by itself."""
        return self._runner.cast.seats

    @property
    def tick(self) -> int:
        """How many ticks this agent has had, the present one included; 0 in `on_start`."""
        return self._part.tick

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers from the session's seed."""
        if self._rng is None:
            self._rng = np.random.default_rng([self._runner.cast.seed, *self.name.encode()])
        return self._rng

    def forward(
        self, observation: Any, legal: Any = None, *, seat: int | None = None, model: str | None = None
    ) -> Awaitable[Any]:
        """Ask a model for an action: `action = await self.forward(observation)`.

        The model is the seat's, or the one of this name. `legal` is the mask of allowed actions; see `mask`. The
        question is asked at once, so that several can be under way before the first is awaited.
        """
        return self._runner.forward(self, observation, legal, seat, model)

    def override(self, action: Any, *, seat: int | None = None) -> Any:
        """Play this action instead of the model's latest one, and return it.

        Algorithms that need the probability of each action do not learn from the decision; the others learn from the
        action that was played.
        """
        return self._runner.override(self, action, seat)

    def mask(self, actions: Sequence[int]) -> NDArray[np.bool_]:
        """A mask that allows these actions only."""
        return self._runner.codec.mask(actions)

    def reward(self, value: float, *, seat: int | None = None) -> None:
        """Credit a reward to the seat's latest decision; say it before the next decision."""
        self._runner.reward(self, value, seat)

    def result(self, returns: float | Sequence[float] | Mapping[int, float]) -> None:
        """How the game ended: the return of each seat. Where no reward was given, it is the last decision's reward.

        One number will do for a game of one seat.
        """
        self._runner.result(returns)

    def truncated(self, observation: Any = None, legal: Any = None, *, seat: int | None = None) -> None:
        """The game was cut off by a limit, not ended by its rules. `observation` is what the seat would see next."""
        self._runner.truncate(self, observation, legal, seat)

    def played_by(self, seat: int, name: str) -> None:
        """The game played this seat by itself; `name` says who it was, for the records."""
        self._runner.played_by(seat, name)

    def metric(self, name: str, value: float) -> None:
        """Report a number: averaged over the session, then over the sessions of a generation."""
        self._runner.metric(name, value)

    def share(self, name: str, value: Any) -> None:
        """Give the other agents of the session a value, for the tick of the present number."""
        self._runner.shares.share(name, value, self._part.turn)

    def shared(self, name: str) -> Awaitable[Any]:
        """Wait for a value that another agent of the session shares in its tick of the same number."""
        return self._runner.shares.shared(name, self._part.turn)


def check_class(cls: type[Agent]) -> None:
    """Raise AgentError for an agent that cannot play."""
    if cls.on_tick is Agent.on_tick:
        raise AgentError(f"{cls.__name__} defines no on_tick")
    length = cls.episode_length
    if length is not None and (not isinstance(length, int) or isinstance(length, bool) or length < 1):
        raise AgentError(f"{cls.__name__}.episode_length is {length!r}; allowed: a whole number of at least 1, or None")
