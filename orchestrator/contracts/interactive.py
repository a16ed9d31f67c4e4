"""Messages on the `interactive` queue: short requests of the API for a waiting user.

The API knows names and rows, never a game's code: drawing a position, choosing a move and importing a user's
`module:attr` happen in a worker. Each is a standalone activity on that queue, registered under the question's name
with its message and its answer. A request that can never succeed raises a non-retryable bad_input ApplicationError.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, TypeVar

from league.types import CheckpointRef
from orchestrator.catalog import Component, Kind
from orchestrator.contracts.play import Contender

Message = TypeVar("Message")
Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class ReplayRequest:
    """A request to replay a recorded game move by move."""

    game: Component
    seed: int
    moves: list[int]
    seat: int | None = None
    """Positions are drawn as this seat sees them; None shows everything."""
    annotator: Contender | None = None
    """A version that adds its probabilities and value at each decision."""
    search: int | None = None
    """Simulations with which the annotator also searches each position; None: its network alone."""
    first: int = 0
    """The first position wanted: a long game is answered in parts."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One legal action at a decision."""

    action: int
    name: str
    probability: float | None = None
    """By the annotator; None without one."""
    searched: float | None = None
    """The same by the annotator's search; None without one."""


@dataclass(frozen=True, kw_only=True)
class ActionNumber:
    """One number of an action that is not Discrete, and what it may be."""

    low: float | None
    """The least value; None: no bound."""
    high: float | None
    whole: bool
    """Whether it is a whole number."""
    choices: list[int] = field(default_factory=list)
    """The values that the position allows; empty where all within the bounds are allowed."""


@dataclass(frozen=True, kw_only=True)
class ReplayedPosition:
    """One position; at the last one `seats` is empty and `done` is true."""

    ply: int
    seats: list[int]
    """The seats to act here."""
    actions: list[int]
    """Their actions; empty at the last position."""
    names: list[str]
    """The names of those actions."""
    returns: list[float]
    """The return of each seat so far."""
    done: bool
    text: str
    svg: str
    legal: list[list[Candidate]] = field(default_factory=list)
    """The legal actions of each of `seats`."""
    value: float | None = None
    """The annotator's value for the first of `seats`."""
    searched_value: float | None = None
    """The same by the annotator's search; None without one."""
    teams: list[int] = field(default_factory=list)
    """The team of each seat; empty in answers of earlier releases."""
    simultaneous: bool = False
    """Whether all seats of the game choose at once, so that none moves first."""
    numbers: list[ActionNumber] = field(default_factory=list)
    """The numbers of an action, in a person's game whose actions are not Discrete; else empty."""


@dataclass(frozen=True, kw_only=True)
class Replay:
    """Positions of a game, and its moves as one line of text."""

    positions: list[ReplayedPosition]
    notation: str
    """PGN-like where the game has a notation: `1. d e 2. d e`; else the names of the actions.

    Empty before the last part.
    """
    next: int | None = None
    """Where the next part begins; None: this is the last one. A part is well below Temporal's 2 MB for a message."""


@dataclass(frozen=True, kw_only=True)
class NameMoves:
    """Asks what people call the first moves of some games."""

    game: Component
    openings: list[list[int]]
    """Of each game its first actions, chance included."""
    seeds: list[int]
    """The seed of each game."""


@dataclass(frozen=True, kw_only=True)
class NamedMoves:
    """The names of those moves."""

    openings: list[list[str]]


@dataclass(frozen=True, kw_only=True)
class MoveRequest:
    """A person's game against a version or a bot: apply the person's action, then let the other side answer."""

    game: Component
    seed: int
    moves: list[int]
    """The moves so far, of both sides, in order."""
    person: int
    """The person's seat."""
    opponent: Contender
    action: int | None = None
    """The person's action; None if the opponent moves first, or to see the position only."""
    numbers: list[float] | None = None
    """The numbers of the person's action, in the place of `action` where actions are not Discrete."""
    sampled: bool | None = True
    """Whether the opponent draws from its policy or takes its best move; None: as suits the game."""
    search: int | None = None
    """Simulations a move with which the opponent, a version, searches; None: it plays by its network."""


@dataclass(frozen=True, kw_only=True)
class MoveAnswer:
    """The game after the answer: it is the person's turn, or the game is over."""

    moves: list[int]
    position: ReplayedPosition
    """The position as the person sees it, with the legal actions."""
    answered: list[int] = field(default_factory=list)
    """The opponent's actions since the person's."""
    search: int | None = None
    """That of the request; the next request asks for the same."""
    sampled: bool = True
    """The same, with what suits the game in the place of None."""


@dataclass(frozen=True, kw_only=True)
class ComponentCheck:
    """A request to import a component and check that it has the interface of its kind, and fits the others named."""

    kind: Kind
    component: Component
    game: Component | None = None
    """The trial's game, where it is to be tried together with the component; the same for the other two."""
    model: Component | None = None
    algorithm: Component | None = None
    topology: str = "auto"
    """That of the trial's crews, which an algorithm must suit."""
    tables: int | None = None
    """Tables of all processes of a crew; None: not known."""
    weights: CheckpointRef | None = None
    """Weights that a player of the algorithm is to start from."""
    source: str | None = None
    """The same in a file of the import folders."""
    nash_conv: bool = False
    """Of a game: whether it must be small enough for NashConv."""


@dataclass(frozen=True, kw_only=True)
class ComponentVerdict:
    """Whether the component can be used, and the problem if not."""

    usable: bool
    problem: str = ""
    teams: list[int] = field(default_factory=list)
    """Of a game: the team of each seat."""
    section: Kind | None = None
    """Which of the components that were tried together has the problem; None: the one that was asked about."""
    buffer_bytes: int = 0
    """Memory of one full buffer of the algorithm in the game; 0: it has none, or they were not tried together."""
    buffer_memory: int = 0
    """Memory that the worker has for the buffers of all crews."""
    defaults: list[str] = field(default_factory=list)
    """Of a game: the options that were given and have their default value."""
    option: str | None = None
    """The option of the algorithm that has the problem, where one has."""
    no_nash_conv: str = ""
    """Of a game whose NashConv is asked for: why it cannot be computed."""


@dataclass(frozen=True, kw_only=True)
class ImportWeights:
    """Uploaded weights, to be stored as a checkpoint of this game and model."""

    game: Component
    model: Component
    uploaded: CheckpointRef
    """The uploaded file; its shapes are checked against the model."""
    algorithm: Component | None = None
    """The algorithm that the weights act by, where it is not the model alone."""


@dataclass(frozen=True, kw_only=True)
class DrawRecordedGame:
    """A request to draw a recorded game of an outside process, by the function that its trial names."""

    game: Component
    trial: str
    recording: str
    """The id of the recorded game."""


@dataclass(frozen=True, kw_only=True)
class DrawnGame:
    """The picture is stored beside the recorded game."""

    bytes: int


@dataclass(frozen=True, kw_only=True)
class RayRequest:
    """Asks for Ray's resources."""


@dataclass(frozen=True, kw_only=True)
class RayNode:
    """One machine of the Ray cluster."""

    address: str
    alive: bool
    cpus: float
    memory_bytes: int
    object_store_bytes: int
    host: str = ""
    problem: str = ""
    """Why crews and matches do not run on it, although it is alive and has CPUs; empty: they do."""
    head: bool = False
    release: str = ""
    """Lanista's on that node; empty: not known."""
    faults: list[str] = field(default_factory=list)
    """What else is wrong on it."""
    ahead_seconds: float | None = None
    """How far its clock is ahead of the train worker's; None: not known."""
    within_seconds: float = 0.0
    """How far that may be off."""
    left_seconds: float | None = None
    """How long ago it left the cluster; None: it is there."""


@dataclass(frozen=True, kw_only=True)
class Unreached:
    """A connection that could not be made."""

    source: str
    """The host that tried."""
    target: str
    """What it tried to reach: another host, or a gateway."""
    problem: str


@dataclass(frozen=True, kw_only=True)
class RayResources:
    """Ray's own accounting: memory is what tasks have reserved, not what processes use."""

    version: str
    cpus: float
    cpus_available: float
    gpus: float
    gpus_available: float
    memory_bytes: int
    memory_available_bytes: int
    object_store_bytes: int
    object_store_available_bytes: int
    nodes: list[RayNode]
    host: str = ""
    """The host of the train worker that answers."""
    asked_at: float | None = None
    """When it answered, by its own clock."""
    unreached: list[Unreached] = field(default_factory=list)
    """Connections between nodes, and from nodes to gateways, that could not be made."""


@dataclass(frozen=True, kw_only=True)
class GatewaysRequest:
    """Asks what the gateways do."""


@dataclass(frozen=True, kw_only=True)
class RemoteGameSeen:
    """A game that calls in, at one gateway process."""

    name: str
    """Empty: a game without a name."""
    sessions: int
    gamecores_waiting: int
    heard_seconds: float | None
    """Seconds since a process of the game was last heard of; None: never."""
    generations: int
    """Generations that collect from this game."""
    games: int
    """Games of matches that no process of the game has asked for yet."""


@dataclass(frozen=True, kw_only=True)
class GatewaySeen:
    """One gateway process."""

    address: str
    problem: str
    """Why it did not answer; empty where it did."""
    connections: int = 0
    sessions: int = 0
    ticks_per_s: float = 0.0
    games: list[RemoteGameSeen] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class GatewaysSeen:
    """All gateway processes that the train worker knows."""

    gateways: list[GatewaySeen]


@dataclass(frozen=True, kw_only=True)
class Question(Generic[Message, Answer]):
    """A standalone activity that the API starts and waits for."""

    name: str
    message: type[Message]
    answer: type[Answer]
    time_limit: timedelta = timedelta(seconds=20)
    """The time limit, including the time in the queue."""


render_replay = Question(name="render_replay", message=ReplayRequest, answer=Replay)
name_moves = Question(name="name_moves", message=NameMoves, answer=NamedMoves)
choose_move = Question(name="choose_move", message=MoveRequest, answer=MoveAnswer, time_limit=timedelta(seconds=60))
import_weights = Question(
    name="import_weights", message=ImportWeights, answer=CheckpointRef, time_limit=timedelta(seconds=60)
)
"""Answers with the stored checkpoint; bad_input names the shapes that do not fit."""
draw_recorded_game = Question(
    name="draw_recorded_game", message=DrawRecordedGame, answer=DrawnGame, time_limit=timedelta(seconds=60)
)
check_component = Question(name="check_component", message=ComponentCheck, answer=ComponentVerdict)
describe_ray = Question(name="describe_ray", message=RayRequest, answer=RayResources, time_limit=timedelta(seconds=3))
"""The train worker answers, because it is Ray's driver."""
describe_gateways = Question(
    name="describe_gateways", message=GatewaysRequest, answer=GatewaysSeen, time_limit=timedelta(seconds=3)
)
"""The train worker answers, because it has the gateways' control addresses and their key."""
