"""Messages to the `interactive` queue: short answers for a waiting person, asked by the API itself.

The API knows names and rows, never a game's code: drawing a position, choosing a move and importing a user's
`module:attr` happen in a worker. Each is a standalone activity on that queue, registered under the question's name
with its message and its answer. What can never work is raised as a non-retryable ApplicationError of type bad_input.
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
    """A recorded game, to be seen again move by move."""

    game: Component
    seed: int
    moves: list[int]
    seat: int | None = None
    """Whose eyes: pictures show what this seat sees; None shows everything."""
    annotator: Contender | None = None
    """A version whose probabilities and value are wanted at each decision."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One legal action at a decision."""

    action: int
    name: str
    probability: float | None = None
    """By the annotator; None without one."""


@dataclass(frozen=True, kw_only=True)
class ReplayedPosition:
    """One position; at the end nobody is to act and `done` is true."""

    ply: int
    seats: list[int]
    """The seats to act here."""
    actions: list[int]
    """What they did; empty at the last position."""
    names: list[str]
    """What people call those actions."""
    returns: list[float]
    """What each seat has earned so far."""
    done: bool
    text: str
    svg: str
    legal: list[list[Candidate]] = field(default_factory=list)
    """The legal actions of each of `seats`."""
    value: float | None = None
    """What the annotator expects the first of `seats` to earn from here."""


@dataclass(frozen=True, kw_only=True)
class Replay:
    """All positions of a game, and its moves as one line of text."""

    positions: list[ReplayedPosition]
    notation: str
    """PGN-like where the game has a notation: `1. d e 2. d e`; else the names of the actions."""


@dataclass(frozen=True, kw_only=True)
class MoveRequest:
    """A person's game against a version or a bot: apply the person's action, then let the other side answer."""

    game: Component
    seed: int
    moves: list[int]
    """What was played before, both sides, in the game's order."""
    person: int
    """The person's seat."""
    opponent: Contender
    action: int | None = None
    """The person's action; None to let the opponent begin, or only to look."""
    sampled: bool = True
    """Whether the opponent draws from its policy or takes its best move."""


@dataclass(frozen=True, kw_only=True)
class MoveAnswer:
    """The game after the answer: it is the person's turn, or the game is over."""

    moves: list[int]
    position: ReplayedPosition
    """What the person sees, and may do."""
    answered: list[int] = field(default_factory=list)
    """The opponent's actions since the person's."""


@dataclass(frozen=True, kw_only=True)
class ComponentCheck:
    """Import what a name stands for and look whether it is what its kind must be."""

    kind: Kind
    component: Component


@dataclass(frozen=True, kw_only=True)
class ComponentVerdict:
    """Whether the name can be used, and if not, why."""

    usable: bool
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class ImportWeights:
    """Weights that somebody uploaded, to be made a checkpoint of this game and model."""

    game: Component
    model: Component
    uploaded: CheckpointRef
    """The file as it came; its shapes are checked against the model."""


@dataclass(frozen=True, kw_only=True)
class RayRequest:
    """What has Ray got, and what is free?"""


@dataclass(frozen=True, kw_only=True)
class RayNode:
    """One machine of the Ray cluster."""

    address: str
    alive: bool
    cpus: float
    memory_bytes: int
    object_store_bytes: int


@dataclass(frozen=True, kw_only=True)
class RayResources:
    """Ray's own books: memory is what tasks have reserved, not what the machine's processes use."""

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


@dataclass(frozen=True, kw_only=True)
class Question(Generic[Message, Answer]):
    """An activity that the API starts by itself, outside any workflow, and waits for."""

    name: str
    message: type[Message]
    answer: type[Answer]
    patience: timedelta = timedelta(seconds=20)
    """How long a person waits for it, queueing included."""


render_replay = Question(name="render_replay", message=ReplayRequest, answer=Replay)
choose_move = Question(name="choose_move", message=MoveRequest, answer=MoveAnswer, patience=timedelta(seconds=60))
import_weights = Question(
    name="import_weights", message=ImportWeights, answer=CheckpointRef, patience=timedelta(seconds=60)
)
"""The answer is the checkpoint, saved; bad_input says which shapes do not fit."""
check_component = Question(name="check_component", message=ComponentCheck, answer=ComponentVerdict)
describe_ray = Question(name="describe_ray", message=RayRequest, answer=RayResources, patience=timedelta(seconds=3))
"""Asked of the train worker because it is Ray's driver; the answer comes from its connection to the head."""
