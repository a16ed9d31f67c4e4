"""Messages about a whole trial: its start, its status, its players, its events."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from league.types import CheckpointRef, Role
from orchestrator.catalog import Component
from orchestrator.contracts.queues import NO_RETRY, RETRY_FEW_TIMES, ActivityStub, Queue, before_all


@dataclass(frozen=True, kw_only=True)
class TrialRequest:
    """About one trial."""

    trial: str


@dataclass(frozen=True, kw_only=True)
class Learner:
    """A learning player, as its trial's workflow knows it."""

    player: str
    name: str
    role: Role
    generation: int = 0
    """The newest recorded generation."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """The trial is completed when a main reaches this win rate against this opponent."""

    opponent: str
    win_rate: float


@dataclass(frozen=True, kw_only=True)
class OwnStart:
    """The model and the algorithm of players that do not start from the weights that the others share."""

    model: Component
    algorithm: Component
    players: list[str] = field(default_factory=list)
    """The ids of the players that have no version yet."""


@dataclass(frozen=True, kw_only=True)
class TrialBrief:
    """What the workflow must know of a trial to run it."""

    trial: str
    name: str
    """`project.trial`, as charts show it: trial names are unique only within a project."""
    game: Component
    model: Component
    seed: int
    learners: list[Learner]
    initial: CheckpointRef | None
    """The trial's initial weights, if recorded or given by a version that the trial file names."""
    initial_source: str | None
    """The weights file to start from, if the trial file names one."""
    start_paused: bool
    steps: int
    budget_steps: int | None
    wall_clock_seconds: float | None
    target: Target | None
    evaluate_every: int
    """Generations of a main between evaluations against the target."""
    over: bool | None = None
    """Whether it was stopped in the store before its workflow started; None in histories of older releases."""
    algorithm: Component | None = None
    """The trial's algorithm; None in histories of older releases."""
    own_starts: list[OwnStart] = field(default_factory=list)
    """What else initial weights are made for."""
    gated: bool = False
    """Whether it has a champion gate."""
    sweep: str = ""
    """The sweep that it belongs to, if any, and reports to."""
    rungs: list[int] = field(default_factory=list)
    """The steps at which its sweep compares it with others."""
    nash_conv: bool = False
    """Whether NashConv is measured with every evaluation."""


@dataclass(frozen=True, kw_only=True)
class InitialWeightsRequest:
    """Create (or fetch) the weights that all learning players start from."""

    trial: str
    game: Component
    model: Component
    seed: int
    source: str | None = None
    """A weights file to start from; its shapes are checked against the model."""
    algorithm: Component | None = None
    """The algorithm, whose acting network may have another head than the model by itself; None: the model's."""
    gated: bool = False
    """Whether the trial has a champion gate, which a game of more than two teams cannot have."""


@dataclass(frozen=True, kw_only=True)
class EnterPlayers:
    """Create the first version of every player that has none."""

    trial: str
    initial: CheckpointRef
    own: dict[str, CheckpointRef] = field(default_factory=dict)
    """Player id -> its initial weights, where they are not the shared ones."""


@dataclass(frozen=True, kw_only=True)
class StatusChange:
    """The trial's new status; a repeated delivery has no effect."""

    trial: str
    status: str
    reason: str = ""
    order: str | None = None
    """The id of the update that asked for it, by which the API finds its effect."""


@dataclass(frozen=True, kw_only=True)
class AddPlayer:
    """A new player for a running league. A repeated delivery with the same `key` finds the same player."""

    trial: str
    key: str
    name: str
    role: Role
    bot: str | None = None
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    algorithm: dict[str, Any] | None = None
    """The player's own algorithm, its id and options; None: the trial's."""
    model: dict[str, Any] | None = None
    initial: CheckpointRef | None = None
    """The player's initial weights; None: those that the trial's players share."""


@dataclass(frozen=True, kw_only=True)
class ChangePlayer:
    """Retire a player, or give it new hyperparameters from its next generation on."""

    trial: str
    player: str
    retire: bool = False
    hyperparameters: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class TrialEvent:
    """An event of the trial. A repeated delivery with the same `key` has no effect."""

    trial: str
    key: str
    type: str
    payload: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GarbageReport:
    """What a garbage collection removed: old files that no row refers to."""

    files: int
    bytes: int


begin_trial = ActivityStub(
    name="begin_trial", queue=Queue.STORE, urgency=before_all, message=TrialRequest, result=TrialBrief
)
make_initial_weights = ActivityStub(
    name="make_initial_weights",
    queue=Queue.INTERACTIVE,
    message=InitialWeightsRequest,
    result=CheckpointRef,
    # there is no heartbeat: this is how a killed worker is noticed
    start_to_close=timedelta(minutes=1),
    retry=NO_RETRY,
)
enter_players = ActivityStub(
    name="enter_players", queue=Queue.STORE, urgency=before_all, message=EnterPlayers, result=type(None)
)
change_status = ActivityStub(
    name="change_status",
    queue=Queue.STORE,
    message=StatusChange,
    result=type(None),
    urgency=before_all,
    summary=lambda change: f"{change.status}: {change.reason}" if change.reason else change.status,
)
add_player = ActivityStub(name="add_player", queue=Queue.STORE, urgency=before_all, message=AddPlayer, result=Learner)
change_player = ActivityStub(
    name="change_player", queue=Queue.STORE, urgency=before_all, message=ChangePlayer, result=Learner
)
note_event = ActivityStub(
    name="note_event",
    queue=Queue.STORE,
    message=TrialEvent,
    result=type(None),
    summary=lambda event: event.type,
)
collect_garbage = ActivityStub(
    name="collect_garbage",
    queue=Queue.STORE,
    message=TrialRequest,
    result=GarbageReport,
    start_to_close=timedelta(minutes=2),
    retry=RETRY_FEW_TIMES,
)
