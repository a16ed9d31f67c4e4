"""Messages of a generation: plan, train, record, judge, chart."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from league.training_priority import Urgency
from league.types import CheckpointRef, ReturnTally, Tally
from orchestrator.catalog import Component
from orchestrator.contracts.queues import FEW_TIMES, ONCE, ActivityStub, Queue


@dataclass(frozen=True, kw_only=True)
class GenerationKey:
    """One generation of one player; what makes its outcome exactly one."""

    trial: str
    player: str
    generation: int
    attempt: int = 1
    """Above 1 when the plan had to be made anew, as after a damaged checkpoint."""


@dataclass(frozen=True, kw_only=True)
class PlannedOpponent:
    """One opponent of the plan: a checkpoint, a bot by name, or (neither) the live learner itself."""

    player: str
    version: str
    probability: float
    checkpoint: CheckpointRef | None = None
    bot: str | None = None


@dataclass(frozen=True, kw_only=True)
class GenerationPlan:
    """All that a generation needs, by value and by reference. At most 64 opponents; the rest is in the decision."""

    trial: str
    player: str
    player_name: str
    generation: int
    attempt: int
    decision: int
    """The row that says why these opponents."""
    version: str
    """The learner's present version, which this generation starts from."""
    checkpoint: CheckpointRef
    opponents: list[PlannedOpponent]
    game: Component
    model: Component
    algorithm: Component
    seed: int
    steps: int
    tables: int
    rollout_actors: int
    trainers: int
    topology: str
    threads: int
    opening_share: float
    opening_plies: int | None
    stall_seconds: float
    """An attempt whose steps stand still this long is stopped and tried again."""
    urgency: int = field(default=Urgency.IN_STEP, compare=False)
    """The place in the queue, as things stand when the plan is given out; no part of the recorded plan."""


@dataclass(frozen=True, kw_only=True)
class GenerationOutcome:
    """What training brought, before anything is recorded."""

    checkpoint: CheckpointRef
    steps: int
    tallies: list[Tally]
    metrics: dict[str, float]
    started_at: float
    """Seconds since the epoch, by the train worker's clock."""
    finished_at: float
    returns: ReturnTally | None = None
    """What games of one seat returned, which have no tallies."""


@dataclass(frozen=True, kw_only=True)
class GenerationReport:
    """An outcome together with the plan it came from, to be recorded."""

    trial: str
    player: str
    generation: int
    plan: GenerationPlan
    outcome: GenerationOutcome
    tries: int = 1
    """How many attempts at training it took."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """The one recorded outcome of a generation; the same for every delivery of it."""

    commit: int
    version: str
    checkpoint: CheckpointRef
    player_steps: int
    trial_steps: int
    committed_at: float


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What the league's rules made of a generation."""

    snapshot: str | None = None
    """The historical player that was made, if one was."""
    reset: bool = False
    gate: str | None = None
    """A gate that this judgement opened and that must now be run; None also while another gate of the alias runs."""


@dataclass(frozen=True, kw_only=True)
class Rollback:
    """A checkpoint of the plan (the learner's or an opponent's) is damaged: go back to the last good version."""

    trial: str
    player: str
    generation: int
    attempt: int
    """The plan that met the damage; the store looks which of its checkpoints it was."""
    problem: str


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A committed generation, for TensorBoard; written after the commit, so that a retry doubles no point."""

    trial: str
    trial_name: str
    player: str
    player_name: str
    generation: int
    steps: int
    committed_at: float
    metrics: dict[str, float]
    tallies: list[Tally] = field(default_factory=list)


plan_generation = ActivityStub(
    name="plan_generation",
    queue=Queue.STORE,
    message=GenerationKey,
    result=GenerationPlan,
    start_to_close=timedelta(seconds=60),
)
train_generation = ActivityStub(
    name="train_generation",
    queue=Queue.TRAIN,
    message=GenerationPlan,
    result=GenerationOutcome,
    start_to_close=timedelta(hours=6),
    heartbeat=timedelta(seconds=10),
    retry=ONCE,
    urgency=lambda plan: plan.urgency,
)
record_generation = ActivityStub(name="record_generation", queue=Queue.STORE, message=GenerationReport, result=Recorded)
judge_generation = ActivityStub(name="judge_generation", queue=Queue.STORE, message=GenerationKey, result=Judgement)
roll_back = ActivityStub(
    name="roll_back",
    queue=Queue.STORE,
    message=Rollback,
    result=type(None),
    # reads files until it has found a sound one, and tells of each; the heartbeat is for one large file
    start_to_close=timedelta(hours=1),
    heartbeat=timedelta(minutes=5),
)
chart_generation = ActivityStub(
    name="chart_generation", queue=Queue.INTERACTIVE, message=Chart, result=type(None), retry=FEW_TIMES
)
