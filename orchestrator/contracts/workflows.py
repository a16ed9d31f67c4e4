"""Inputs, signals, updates and query answers of the workflows."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from league.types import Role
from orchestrator.contracts.generations import PartialGeneration
from orchestrator.contracts.trials import Learner, OwnStart, Target, TrialBrief


def trial_workflow_id(trial: str) -> str:
    return f"trial-{trial}"


def player_workflow_id(player: str) -> str:
    return f"player-{player}"


def gate_workflow_id(gate: str) -> str:
    return f"gate-{gate}"


PAUSED_BY_OPERATOR = "paused by an operator"
"""Why a trial is paused that its sweep must not resume."""


class Mode(StrEnum):
    """What a trial wants a player to do."""

    RUN = "run"
    PAUSE = "pause"
    """Finish the running generation, then wait."""
    DRAIN = "drain"
    """Finish and record the running generation, then end."""
    NOW = "now"
    """Cancel the running generation and end."""

    @property
    def ends(self) -> bool:
        return self in (Mode.DRAIN, Mode.NOW)


class ReportKind(StrEnum):
    """What a player or a gate reports to its trial."""

    RECORDED = "recorded"
    IDLE = "idle"
    ENDED = "ended"
    FAILED = "failed"
    TARGET_REACHED = "target_reached"
    GATE_OPENED = "gate_opened"
    GATE_ENDED = "gate_ended"
    LOST = "lost"
    """Reported for a player whose workflow ended without a report: terminated by hand, for example."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """A report of a player or a gate to its trial."""

    happening: ReportKind
    sender: str
    """The player's or the gate's id."""
    generation: int = 0
    trial_steps: int = 0
    detail: str = ""
    next_gate: str | None = None
    """A gate that starts next; the trial waits for it before it ends."""
    crews: int = 0
    """`GenerationOutcome.crews` of the generation just recorded."""


@dataclass(kw_only=True)
class PlayerState:
    """The state of a player's workflow, carried from run to run."""

    trial: str
    trial_name: str
    player: str
    name: str
    role: Role
    generation: int = 0
    """The newest recorded generation."""
    attempt: int = 1
    """Which plan of the next generation is valid."""
    tries: int = 0
    """Failed attempts of earlier runs at training by this plan."""
    mode: Mode = Mode.RUN
    target: Target | None = None
    evaluate_every: int = 0
    nash_conv: bool = False
    """Whether NashConv is measured with every evaluation; false in histories of older releases."""
    crews: int = 0
    """`GenerationOutcome.crews` of the last generation."""
    partial: PartialGeneration | None = None
    """Where the next attempt at training by this plan goes on."""


@dataclass(kw_only=True)
class GateState:
    """The state of a gate's workflow, carried from run to run."""

    gate: str
    trial: str = ""
    announced: bool = False
    stop_reason: str = ""
    """Set when the gate was told to stop."""
    tries: int = 0
    """Failed attempts of earlier runs at the batch that comes next."""


class Status(StrEnum):
    """A trial's status."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(kw_only=True)
class PlayerStatus:
    """What a trial's workflow knows of one of its learning players."""

    learner: Learner
    idle: bool = False
    ended: bool = False
    retiring: bool = False
    """It was told to end and may still be finishing its last generation."""
    generation: int = 0

    @property
    def stays(self) -> bool:
        return not self.ended and not self.retiring


@dataclass(kw_only=True)
class TrialState:
    """The state of a trial's workflow, carried from run to run."""

    trial: str
    status: Status = Status.PENDING
    reason: str = ""
    final: Status | None = None
    """The status that the trial gets once its players and gates have ended."""
    mode: Mode = Mode.RUN
    launched: bool = False
    tries: int = 0
    """Failed attempts of earlier runs at the first weights."""
    brief: TrialBrief | None = None
    seats: dict[str, PlayerStatus] = field(default_factory=dict)
    """The learning players by id."""
    gates: list[str] = field(default_factory=list)
    steps: int = 0
    seconds_used: float = 0.0
    """Time spent running before `running_since`; pauses do not count."""
    running_since: float | None = None
    crews: int = 0
    """`Report.crews` of the newest report that had any."""
    paused_by_sweep: bool = False


@dataclass(frozen=True, kw_only=True)
class StopOrder:
    """Stop a trial: drain (finish and record running generations) or now (within seconds)."""

    mode: Mode
    reason: str = "stopped by an operator"


@dataclass(frozen=True, kw_only=True)
class NewPlayer:
    """A player to add to a running trial."""

    key: str
    name: str
    role: Role
    bot: str | None = None
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    algorithm: dict[str, Any] | None = None
    """The player's own algorithm, its id and options; None: the trial's."""
    model: dict[str, Any] | None = None
    start: OwnStart | None = None
    """What its initial weights are made for; None: it starts from those that the trial's players share."""


@dataclass(frozen=True, kw_only=True)
class PlayerChange:
    """Retire or retune a player."""

    player: str
    retire: bool = False
    hyperparameters: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class LiveStatus:
    """The answer to a trial's status query."""

    status: Status
    reason: str
    steps: int
    seconds: float
    players: dict[str, int]
    """The newest recorded generation of each learning player, by name."""
    gates: list[str]
