"""The task, progress and result of a generation, as plain values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from league.types import CheckpointRef, LineupTally, ReturnTally, Tally
from orchestrator.catalog import Component
from orchestrator.contracts.generations import PlannedOpponent, ProcessResources
from workers.crews.errors import BadTask
from workers.rollout.openings import OpeningRules


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
    learner: CheckpointRef | None = None
    """The checkpoint to continue from; None starts with random weights."""
    player: str = ""
    """The id of the player, whose buffer a crew keeps between generations."""
    version: str = "learner"
    """The version id that tallies are reported for."""
    opponents: tuple[PlannedOpponent, ...] = ()
    """The mixture that tables draw from; empty means live self-play alone."""
    mates: tuple[PlannedOpponent, ...] = ()
    """Players that sit in the learner's team at their share of the tables; the rest is the learner's alone."""
    tables: int = 1024
    """Tables of each rollout actor; 64 or more can seat 64 opponents at once, a multiple of 64 evenly."""
    rollout_actors: int = 1
    trainers: int = 1
    """Training processes of a split or asynchronous crew; a fused one trains in every actor."""
    topology: Topology = Topology.AUTO
    threads: int = 1
    """Threads of each process; results are exact for a fixed number only."""
    resources: ProcessResources = field(default_factory=ProcessResources)
    openings: OpeningRules = field(default_factory=OpeningRules)

    def __post_init__(self) -> None:
        for name in ("steps", "tables", "rollout_actors", "trainers", "threads"):
            if getattr(self, name) < 1:
                raise BadTask(f"{name} must be at least 1, not {getattr(self, name)}")
        for opponent in self.opponents:
            if opponent.checkpoint is not None and opponent.bot is not None:
                raise BadTask(f"opponent {opponent.version} is both a checkpoint and a bot")
            if not opponent.probability >= 0.0:
                raise BadTask(f"opponent {opponent.version} has probability {opponent.probability}")
        total = math.fsum(opponent.probability for opponent in self.opponents)
        if self.opponents and not math.isclose(total, 1.0, abs_tol=1e-6):
            raise BadTask(f"the opponents' probabilities must sum to 1, they sum to {total}")
        taken = math.fsum(mate.probability for mate in self.mates)
        if any(mate.is_self or not mate.probability >= 0.0 for mate in self.mates) or taken > 1.0 + 1e-6:
            raise BadTask("mates need a checkpoint or a bot, and shares that sum to at most 1")
        if self.trainers > 1 and self.topology == Topology.FUSED:
            raise BadTask(f"a fused crew has no separate trainers, but trainers is {self.trainers}; use split")
        if self.rollout_actors % self.trainers:
            raise BadTask(f"{self.rollout_actors} rollout actors cannot be shared by {self.trainers} trainers evenly")

    @property
    def others(self) -> tuple[PlannedOpponent, ...]:
        """The opponents that are not the live learner."""
        return tuple(opponent for opponent in self.opponents if not opponent.is_self)

    @property
    def mate_shares(self) -> list[float]:
        """The share of the learner as its own mate, then that of each mate; empty without mates."""
        if not self.mates:
            return []
        taken = math.fsum(mate.probability for mate in self.mates)
        return [max(0.0, 1.0 - taken), *(mate.probability for mate in self.mates)]

    @property
    def shares(self) -> list[float]:
        """The share of live self-play, then that of each of `others`."""
        if not self.opponents:
            return [1.0]
        live = math.fsum(opponent.probability for opponent in self.opponents if opponent.is_self)
        return [live, *(opponent.probability for opponent in self.others)]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a generation."""

    steps: int
    target: int
    seconds: float
    """Since the crew was ready."""
    metrics: dict[str, float]
    """Means over the updates so far."""
    played_out: int = 0
    """Play-out steps at each table since training ended: not trained on, but progress."""

    @property
    def steps_per_second(self) -> float:
        return self.steps / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, kw_only=True)
class GenerationResult:
    """The result of a generation."""

    checkpoint: CheckpointRef
    steps: int
    """Environment steps sampled and trained in this generation; random opening moves are not counted."""
    tallies: tuple[Tally, ...]
    """Of every game against an opponent that began in the generation; unfinished ones were played out, untrained."""
    metrics: dict[str, float]
    lineups: tuple[LineupTally, ...] = ()
    """Of the games in which the learner shared its team with a mate."""
    returns: ReturnTally | None = None
    """Of every game of one team that began in the generation; None in games of more teams."""
