"""What workflows say to each other and to the API: their inputs, signals and answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from league.types import Role
from orchestrator.contracts.trials import Learner, Target, TrialBrief


def trial_workflow_id(trial: str) -> str:
    return f"trial-{trial}"


def player_workflow_id(player: str) -> str:
    return f"player-{player}"


def gate_workflow_id(gate: str) -> str:
    return f"gate-{gate}"


class Mode(StrEnum):
    """What a trial wants of a player."""

    RUN = "run"
    PAUSE = "pause"
    """Finish the generation under way, then wait."""
    DRAIN = "drain"
    """Finish and record the generation under way, then end."""
    NOW = "now"
    """Give up the generation under way and end."""

    @property
    def ends(self) -> bool:
        return self in (Mode.DRAIN, Mode.NOW)


class Happening(StrEnum):
    """What a player or a gate tells its trial."""

    RECORDED = "recorded"
    IDLE = "idle"
    ENDED = "ended"
    FAILED = "failed"
    TARGET_REACHED = "target_reached"
    GATE_OPENED = "gate_opened"
    GATE_ENDED = "gate_ended"


@dataclass(frozen=True, kw_only=True)
class Report:
    """One line from a player or a gate to its trial."""

    happening: Happening
    sender: str
    """The player's or the gate's id."""
    generation: int = 0
    trial_steps: int = 0
    detail: str = ""
    next_gate: str | None = None
    """A gate that is started next, by a judgement or after another gate: the trial waits for it."""


@dataclass(kw_only=True)
class PlayerState:
    """All that a player's workflow carries from run to run."""

    trial: str
    trial_name: str
    player: str
    name: str
    role: Role
    generation: int = 0
    """The newest recorded generation."""
    attempt: int = 1
    """Which plan of the next generation is in force."""
    tries: int = 0
    """Failed attempts at training by this plan, where earlier runs gave it over."""
    mode: Mode = Mode.RUN
    target: Target | None = None
    evaluate_every: int = 0


@dataclass(kw_only=True)
class GateState:
    """All that a gate's workflow carries from run to run."""

    gate: str
    trial: str = ""
    announced: bool = False
    stop_reason: str = ""
    """Set once somebody has told it to stop."""
    tries: int = 0
    """Failed attempts at the batch that comes next, where earlier runs gave it over."""


class Status(StrEnum):
    """A trial's life."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    STOPPING = "stopping"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(kw_only=True)
class Seat:
    """A learning player in the eyes of its trial."""

    learner: Learner
    idle: bool = False
    ended: bool = False
    retiring: bool = False
    """It was told to end and may still finish its last generation."""
    generation: int = 0

    @property
    def stays(self) -> bool:
        return not self.ended and not self.retiring


@dataclass(kw_only=True)
class TrialState:
    """All that a trial's workflow carries from run to run."""

    trial: str
    status: Status = Status.PENDING
    reason: str = ""
    final: Status | None = None
    """What the trial becomes once everything under way has ended."""
    mode: Mode = Mode.RUN
    launched: bool = False
    tries: int = 0
    """Failed attempts at the first weights, where earlier runs gave them over."""
    brief: TrialBrief | None = None
    seats: dict[str, Seat] = field(default_factory=dict)
    gates: list[str] = field(default_factory=list)
    steps: int = 0
    seconds_used: float = 0.0
    """Time spent running before `running_since`; pauses do not count."""
    running_since: float | None = None


@dataclass(frozen=True, kw_only=True)
class StopOrder:
    """Stop a trial: drain (finish and record what is under way) or now (within seconds)."""

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
    """Each learning player's newest recorded generation, by name."""
    gates: list[str]
