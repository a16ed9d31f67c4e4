"""Messages of a generation: plan, train, record, judge, chart."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from league.training_priority import Urgency
from league.types import CheckpointRef, LineupTally, ReturnTally, Tally
from orchestrator.catalog import Component
from orchestrator.contracts.queues import NO_RETRY, RETRY_FEW_TIMES, ActivityStub, Queue


@dataclass(frozen=True, kw_only=True)
class GenerationKey:
    """One generation of one player; its outcome is recorded exactly once."""

    trial: str
    player: str
    generation: int
    attempt: int = 1
    """Above 1 when another plan was needed, as after a damaged checkpoint."""
    crews: int = 0
    """For planning: `GenerationOutcome.crews` of the player's last generation."""


@dataclass(frozen=True, kw_only=True)
class PlannedOpponent:
    """One opponent of the plan: a checkpoint, a bot by name, or (neither) the learner itself."""

    player: str
    version: str
    probability: float
    checkpoint: CheckpointRef | None = None
    bot: str | None = None
    player_name: str = ""
    """For charts; empty in plans of earlier versions."""

    @property
    def is_self(self) -> bool:
        return self.checkpoint is None and self.bot is None


@dataclass(frozen=True, kw_only=True)
class ProcessResources:
    """What each process of a crew gets, and on which devices it computes."""

    device: str = "cpu"
    """Where models learn: auto, cpu or cuda."""
    sampling_device: str | None = None
    """Where models choose actions in rollouts; None: where they learn."""
    cpus: float | None = None
    """None: as many as threads."""
    gpus: float | None = None
    """Of a process that uses cuda; None: 1."""
    memory_mb: int | None = None
    autocast: str | None = None

    @property
    def samples_on(self) -> str:
        return self.sampling_device or self.device


class Topology(StrEnum):
    """How a crew divides sampling and training among processes."""

    AUTO = "auto"
    """Fused; split if `trainers` is above 1; asynchronous if the algorithm is made for it."""
    FUSED = "fused"
    """Every actor samples and learns; gradients are averaged between them."""
    SPLIT = "split"
    """Rollout actors send samples to trainers and get weights back, both working at the same time."""
    ASYNCHRONOUS = "asynchronous"
    """Split, and neither waits for the other: samples are as old as they happen to be, and no run is reproducible."""


PARTIAL = "partial"
"""The key of heartbeats, and of the details of errors, that holds the newest `PartialGeneration`."""


@dataclass(frozen=True, kw_only=True)
class PartialGeneration:
    """What a lost attempt had done by its last mid-generation checkpoint; the next attempt goes on from there."""

    checkpoint: CheckpointRef
    """The learner's state."""
    outcome: CheckpointRef
    """An artifact with the outcome so far, of all attempts: tallies, returns and metrics."""
    updates: int
    """Updates done, of all attempts."""
    steps: int
    """Environment steps done, of all attempts."""


@dataclass(frozen=True, kw_only=True)
class GenerationTask:
    """One unit of learning of one player. Equal tasks with one actor give equal checkpoints."""

    game: Component
    model: Component
    algorithm: Component
    steps: int
    """Environment steps to play, rounded up to whole updates."""
    seed: int
    """Source of everything random in the generation, fresh weights included."""
    checkpoint: CheckpointRef | None = None
    """The checkpoint to continue from; None starts with random weights."""
    player: str = ""
    """The id of the player, whose buffer a crew keeps between generations."""
    version: str = "learner"
    """The learner's version that this generation starts from; tallies are reported for it."""
    opponents: tuple[PlannedOpponent, ...] = ()
    """The mixture that tables draw from, at most 64; empty means live self-play alone."""
    mates: tuple[PlannedOpponent, ...] = ()
    """Players that sit in the learner's team at their share of the tables; the rest is the learner's alone."""
    tables: int = 1024
    """Tables of each rollout actor; 64 or more can seat 64 opponents at once, a multiple of 64 evenly."""
    rollout_actors: int = 1
    trainers: int = 1
    """Training processes of a split or asynchronous crew; a fused one trains in every actor."""
    topology: Topology = Topology.AUTO
    publish_every: int = 1
    """Updates of an asynchronous crew between two publications of weights to its rollout actors."""
    threads: int = 1
    """Threads of each process; results are exact for a fixed number only."""
    resources: ProcessResources = field(default_factory=ProcessResources)
    opening_share: float = 0.5
    """The share of self-play games that start with random moves."""
    opening_plies: int | None = None
    """How many random moves at most; None for a quarter of the game's longest course."""
    checkpoint_seconds: float | None = None
    """How often a long generation stores a mid-generation checkpoint; None: never."""
    resume: PartialGeneration | None = field(default=None, compare=False)
    """Where an attempt goes on that follows a lost one; not part of the recorded plan."""

    @property
    def others(self) -> tuple[PlannedOpponent, ...]:
        """The opponents that are not the live learner."""
        return tuple(opponent for opponent in self.opponents if not opponent.is_self)

    @property
    def shares(self) -> list[float]:
        """The share of live self-play, then that of each of `others`."""
        if not self.opponents:
            return [1.0]
        live = math.fsum(opponent.probability for opponent in self.opponents if opponent.is_self)
        return [live, *(opponent.probability for opponent in self.others)]

    @property
    def mate_shares(self) -> list[float]:
        """The share of the learner as its own mate, then that of each mate; empty without mates."""
        if not self.mates:
            return []
        taken = math.fsum(mate.probability for mate in self.mates)
        return [max(0.0, 1.0 - taken), *(mate.probability for mate in self.mates)]


@dataclass(frozen=True, kw_only=True)
class GenerationPlan(GenerationTask):
    """The task that the store has planned for a player; the decision row holds the full distribution of opponents."""

    trial: str
    player_name: str
    generation: int
    attempt: int
    decision: int
    """The decision row, which explains the choice of opponents."""
    stall_seconds: float
    """An attempt without progress for this long is stopped and retried."""
    urgency: int = field(default=Urgency.IN_STEP, compare=False)
    """The priority in the queue, computed whenever the plan is requested; not part of the recorded plan."""
    weight: float = field(default=1.0, compare=False)
    """The trial's weight in the queue, computed like the urgency: see `league.fair_share`."""
    trial_name: str = field(default="", compare=False)
    """For people that wait behind this generation."""


@dataclass(frozen=True, kw_only=True)
class GenerationOutcome:
    """The result of training, before anything is recorded."""

    checkpoint: CheckpointRef
    steps: int
    """Environment steps sampled and trained on; random opening moves are not counted."""
    tallies: list[Tally]
    """Of every game against an opponent that began in the generation; unfinished ones were played out, untrained."""
    metrics: dict[str, float]
    started_at: float = 0.0
    """Seconds since the epoch, by the train worker's clock."""
    finished_at: float = 0.0
    returns: ReturnTally | None = None
    """The returns of games of one team, which have no tallies."""
    lineups: list[LineupTally] = field(default_factory=list)
    """Of games in which the learner shared its team with a mate."""
    crews: int = 0
    """How many generations of this size the cluster can train at once; 0 in outcomes of earlier releases."""


@dataclass(frozen=True, kw_only=True)
class GenerationReport:
    """A generation's outcome, to be recorded with the plan that the store made for it."""

    trial: str
    player: str
    generation: int
    outcome: GenerationOutcome
    tries: int = 1
    """How many attempts at training it took."""
    attempt: int = 1
    """Which plan of the generation the training followed; the store has recorded it."""
    plan: GenerationPlan | None = None
    """The whole plan, in reports of earlier releases; None since the store looks it up."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """The recorded outcome of a generation; the same for every delivery of the report."""

    commit: int
    version: str
    checkpoint: CheckpointRef
    player_steps: int
    trial_steps: int
    committed_at: float


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What the league's rules decided after a generation."""

    snapshot: str | None = None
    """The historical player that was created, if any."""
    reset: bool = False
    gate: str | None = None
    """A gate that was opened and must now be run; None also while another gate of the alias runs."""


@dataclass(frozen=True, kw_only=True)
class Rollback:
    """A checkpoint of the plan (the learner's or an opponent's) is damaged: return to the last good version."""

    trial: str
    player: str
    generation: int
    attempt: int
    """The plan that named the damaged checkpoint; the store finds out which one it is."""
    problem: str


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A committed generation, for TensorBoard; written after the commit, so that a retry writes no point twice."""

    trial: str
    trial_name: str
    player: str
    player_name: str
    generation: int
    steps: int
    committed_at: float
    metrics: dict[str, float]
    win_rates: dict[str, float] = field(default_factory=dict)
    """The win rate against each opponent, by the opponent's name."""
    tallies: list[Tally] = field(default_factory=list)
    """In messages of earlier releases, in the place of `win_rates`."""
    opponent_names: dict[str, str] = field(default_factory=dict)
    """The player's name for each opponent's version in `tallies`."""


plan_generation = ActivityStub(
    name="plan_generation",
    queue=Queue.STORE,
    message=GenerationKey,
    result=GenerationPlan,
    start_to_close=timedelta(seconds=60),
    summary=lambda key: f"generation {key.generation}",
)
train_generation = ActivityStub(
    name="train_generation",
    queue=Queue.TRAIN,
    message=GenerationPlan,
    result=GenerationOutcome,
    start_to_close=timedelta(hours=6),
    heartbeat=timedelta(seconds=10),
    retry=NO_RETRY,
    urgency=lambda plan: plan.urgency,
    fairness=lambda plan: (plan.trial, plan.weight),
    summary=lambda plan: f"{plan.player_name}, generation {plan.generation}: {len(plan.opponents)} opponents",
)
record_generation = ActivityStub(
    name="record_generation",
    queue=Queue.STORE,
    message=GenerationReport,
    result=Recorded,
    summary=lambda report: f"generation {report.generation}: {report.outcome.steps:,} steps",
)
judge_generation = ActivityStub(
    name="judge_generation",
    queue=Queue.STORE,
    message=GenerationKey,
    result=Judgement,
    summary=lambda key: f"generation {key.generation}",
)
roll_back = ActivityStub(
    name="roll_back",
    queue=Queue.STORE,
    message=Rollback,
    result=type(None),
    # reads files until it finds an undamaged one, with a heartbeat after each; the timeout allows for one large file
    start_to_close=timedelta(hours=1),
    heartbeat=timedelta(minutes=5),
    summary=lambda rollback: rollback.problem,
)
chart_generation = ActivityStub(
    name="chart_generation",
    queue=Queue.INTERACTIVE,
    message=Chart,
    result=type(None),
    retry=RETRY_FEW_TIMES,
    summary=lambda chart: f"generation {chart.generation}",
)
