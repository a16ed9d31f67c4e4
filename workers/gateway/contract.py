"""The interfaces between a gateway's transports, its sessions, and the director that decides which models play."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workers.games.protocol import GameSpec
from workers.inference.actor import Actor

MAIN_AGENT = ""
"""The name of a session's agent where a request names none."""


class StepKind(StrEnum):
    """What a request of a game asks for."""

    START = "start"
    TICK = "tick"
    END = "end"
    AUTO = "auto"
    """One tick without a session: nothing is remembered."""


class Refused(Exception):
    """A request that is refused, with words for its sender. `status` is an HTTP status."""

    def __init__(self, status: int, text: str, retry_after: float | None = None) -> None:
        super().__init__(status, text, retry_after)
        self.status, self.text, self.retry_after = status, text, retry_after


@dataclass(slots=True)
class Step:
    """One request of a game."""

    session: str
    kind: StepKind
    body: bytes
    agent: str = MAIN_AGENT
    ticket: str = ""
    """Names the game that this session was told to play; only with `start`."""


Reply = Callable[[bytes | Refused], None]
"""Called once with the agent's bytes or the refusal, in the gateway's event loop; must not raise."""


class StepHandler(Protocol):
    """Takes the requests of all transports: the session table, or a fake of it."""

    def handle(self, step: Step, reply: Reply) -> None:
        """Answer by calling `reply`, now or later. Never raises."""
        ...


@dataclass(slots=True)
class SeatCast:
    """Who plays one seat of a session."""

    name: str
    """The version or bot, for records and metrics; of an outside player, what the game calls it."""
    model: Model | None
    """None: the game plays the seat by itself."""
    learning: bool = False
    """Whether decisions of this seat become experience."""


@dataclass(slots=True)
class Cast:
    """Who plays a session, and what its agents are told about it."""

    spec: GameSpec
    seats: Sequence[SeatCast]
    seed: int = 0
    info: Mapping[str, Any] = field(default_factory=dict)
    """Shown to agents: trial, player, generation, purpose (`training`, `match`, `serving`)."""
    key: Any = None
    """The director's own."""
    models: Mapping[str, Model] = field(default_factory=dict)
    """Further models that agents may ask by name, besides those of the seats."""


@dataclass(slots=True)
class SessionResult:
    """How a session ended."""

    session: str
    returns: NDArray[np.float64]
    """[seats]: rewards summed, or what the game or the agent declared."""
    ticks: int
    truncated: bool = False
    played: frozenset[int] = frozenset()
    """Seats that models decided for."""
    scored: bool = True
    """Whether the game or an agent said how it went; else all returns are 0."""
    outside: Mapping[int, str] = field(default_factory=dict)
    """Seats that the game played by itself, and who it says played there."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """What agents reported by `metric`, averaged over the session."""


@dataclass(slots=True)
class Episode:
    """Decisions of one learning seat between two cuts, as columns with equal numbers of rows."""

    session: str
    seat: int
    columns: dict[str, NDArray[Any]]
    """Observation columns, `action`, `legal` where there are masks, `reward`, and whatever the actor returned."""
    over: bool
    """The game ended here: nothing follows the last decision."""
    final: dict[str, NDArray[Any]] | None = None
    """Where it was cut: all columns but the reward of what followed, one row each, to bootstrap from."""
    acted_by: NDArray[np.int64] | None = None
    """The learner's update of each decision."""


class Director(Protocol):
    """Decides who plays in a session, and takes what comes out: the league, a server of models, or a fake."""

    def cast(self, session: str, ticket: str) -> Cast:
        """Who plays the session that starts; raises Refused (503 with `retry_after`) where there is nothing to play.

        `session` is empty for a tick without a session (`StepKind.AUTO`), which has no result.
        """
        ...

    def episode(self, cast: Cast, episode: Episode) -> None:
        """Take the experience of a learning seat."""
        ...

    def finished(self, cast: Cast, result: SessionResult) -> None:
        """The session ended by itself. Called once, after its last episode."""
        ...

    def aborted(self, cast: Cast, session: str, reason: str) -> None:
        """The session has no result: it fell silent, its agent failed, or its cast was withdrawn."""
        ...


class Runner(Protocol):
    """Runs the agents of one session."""

    over: bool
    """The session ended or was aborted, and its director knows."""

    def step(self, step: Step, reply: Reply) -> None:
        """Start, tick or end one agent. At most one step of an agent is under way.

        `StepKind.AUTO` is the only step of its runner, whose session has no name; `abort` follows its reply.
        """
        ...

    def abort(self, reason: str) -> None:
        """End without a result: tells the director, if the session is not over yet. Replies may then stay out."""
        ...


RunnerFactory = Callable[[str, Cast], Runner]
"""Makes what runs a session, from the session's name and its cast."""

GameAnswer = Callable[[Mapping[str, Any] | None], None]


class GameSource(Protocol):
    """Hands out games that should be played next: tournaments, gates and ratings."""

    def next_game(self, seconds: float, answer: GameAnswer, name: str = "") -> Callable[[], None]:
        """Answer once: what to play (JSON, with its `ticket`), or None after `seconds` without a game.

        `name` is the game that the client plays, empty for the one without a name. Returns a function that withdraws
        the question, for a client that went away.
        """
        ...


class Model(Protocol):
    """One version under one name, shared by all sessions that it plays in: it decides for rows in batches."""

    actor: Actor
    version: str
    update: int
    """The learner's update that the weights come from; 0 where they do not change."""

    def submit(
        self, rows: dict[str, NDArray[Any]], decided: Callable[[dict[str, NDArray[Any]] | Exception], None]
    ) -> None:
        """Decide for one row: columns [1, ...] in, the actor's columns [1, ...] out, called back in the event loop.

        Rows of many sessions are decided together. Recurrent state travels in the rows and comes back in the answer.
        The answer is the caller's own. Its column `acted_by`, where there is one, takes the place of `update`.
        """
        ...
