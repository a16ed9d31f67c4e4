"""Messages about a trial as a whole: its beginning, its status, its players, what happened."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from league.types import CheckpointRef, Role
from orchestrator.catalog import Component
from orchestrator.contracts.queues import FEW_TIMES, ONCE, ActivityStub, Queue


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
    """The trial is done when a main reaches this win rate against this bot."""

    opponent: str
    win_rate: float


@dataclass(frozen=True, kw_only=True)
class TrialBrief:
    """What the workflow must know of a trial to run it."""

    trial: str
    name: str
    """With the project before it, as charts show it: names are unique within a project only."""
    game: Component
    model: Component
    seed: int
    learners: list[Learner]
    initial: CheckpointRef | None
    """The trial's initial weights: recorded already, or those of the version that the trial file names."""
    initial_source: str | None
    """A weights file to start from, where the trial file names one."""
    start_paused: bool
    steps: int
    budget_steps: int | None
    wall_clock_seconds: float | None
    target: Target | None
    evaluate_every: int
    """Generations of a main between evaluations against the target."""
    over: bool | None = None
    """It was stopped in the store before its workflow could begin; None in histories from before this was asked."""


@dataclass(frozen=True, kw_only=True)
class InitialWeightsRequest:
    """Make (or fetch) the weights that all learning players start from."""

    trial: str
    game: Component
    model: Component
    seed: int
    source: str | None = None
    """A weights file to start from; its shapes are checked against the model."""


@dataclass(frozen=True, kw_only=True)
class EnterPlayers:
    """Give every player of the trial that has none its first version."""

    trial: str
    initial: CheckpointRef


@dataclass(frozen=True, kw_only=True)
class StatusChange:
    """The trial's new status; a repeated delivery changes nothing."""

    trial: str
    status: str
    reason: str = ""
    order: str | None = None
    """The id of the order that asked for it, by which its sender finds what became of it."""


@dataclass(frozen=True, kw_only=True)
class AddPlayer:
    """A new player for a running league. `key` makes a repeated delivery find the first one's player."""

    trial: str
    key: str
    name: str
    role: Role
    bot: str | None = None
    hyperparameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ChangePlayer:
    """Retire a player, or give it new hyperparameters from its next generation on."""

    trial: str
    player: str
    retire: bool = False
    hyperparameters: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class TrialEvent:
    """Something a person should see in the trial's events. `key` makes a repeated delivery harmless."""

    trial: str
    key: str
    type: str
    payload: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GarbageReport:
    """What a collection removed: files that no row refers to and that are old enough."""

    files: int
    bytes: int


begin_trial = ActivityStub(name="begin_trial", queue=Queue.STORE, message=TrialRequest, result=TrialBrief)
make_initial_weights = ActivityStub(
    name="make_initial_weights",
    queue=Queue.INTERACTIVE,
    message=InitialWeightsRequest,
    result=CheckpointRef,
    # a killed worker is noticed by nothing else
    start_to_close=timedelta(minutes=1),
    retry=ONCE,
)
enter_players = ActivityStub(name="enter_players", queue=Queue.STORE, message=EnterPlayers, result=type(None))
change_status = ActivityStub(name="change_status", queue=Queue.STORE, message=StatusChange, result=type(None))
add_player = ActivityStub(name="add_player", queue=Queue.STORE, message=AddPlayer, result=Learner)
change_player = ActivityStub(name="change_player", queue=Queue.STORE, message=ChangePlayer, result=Learner)
note_event = ActivityStub(name="note_event", queue=Queue.STORE, message=TrialEvent, result=type(None))
collect_garbage = ActivityStub(
    name="collect_garbage",
    queue=Queue.STORE,
    message=TrialRequest,
    result=GarbageReport,
    start_to_close=timedelta(minutes=2),
    retry=FEW_TIMES,
)
