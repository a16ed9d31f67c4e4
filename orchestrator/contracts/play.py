"""Messages about games that measure strength: those of gates and evaluations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.contracts.queues import NO_RETRY, ActivityStub, Queue, before_all


@dataclass(frozen=True, kw_only=True)
class Contender:
    """One side of a match: a version by its checkpoint, or a bot by its name."""

    version: str
    player: str
    checkpoint: CheckpointRef | None = None
    bot: str | None = None


@dataclass(frozen=True, kw_only=True)
class PlayRequest:
    """One fixed batch of paired games: the same request gives the same games."""

    trial: str
    occasion: str
    """What the games are for, in words; for logs and Temporal's Web UI."""
    game: Component
    contenders: list[Contender]
    pairs: int
    seed: int
    sampled: bool = True
    opening_plies: int | None = 0
    """Random moves before each pair of games; None: as many as suit the game, reported with each game."""
    stall_seconds: float = 120.0


@dataclass(frozen=True, kw_only=True)
class PlayedGame:
    """One finished game."""

    pair: int
    seating: list[int]
    """The contender in each seat, by its index in the request."""
    seed: int
    returns: list[float]
    moves: list[int]
    opening: int = 0
    teams: list[int] = field(default_factory=list)
    """The team of each seat; empty where each seat is a team of its own."""

    @property
    def sides(self) -> tuple[TeamResult, ...]:
        """Every team's contender and return, in the order of the teams."""
        return team_results(self.seating, self.returns, self.teams)


@dataclass(frozen=True, kw_only=True)
class TeamResult:
    """One team of a finished game: the contender in its seats, and the sum of their returns."""

    entrant: int
    earned: float


def team_results(seating: Sequence[int], returns: Sequence[float], teams: Sequence[int]) -> tuple[TeamResult, ...]:
    """The teams of a game in order; without `teams` each seat is one. All seats of a team have one contender."""
    if not teams:
        return tuple(TeamResult(entrant=who, earned=got) for who, got in zip(seating, returns, strict=True))
    found = []
    for team in range(max(teams) + 1):
        seats = [seat for seat, of in enumerate(teams) if of == team]
        found.append(TeamResult(entrant=seating[seats[0]], earned=math.fsum(returns[seat] for seat in seats)))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class PlayOutcome:
    """All games of a batch, inline or in a file; `orchestrator.storage.played_games` writes and reads it."""

    games: list[PlayedGame]
    stored: CheckpointRef | None = None
    """The file of games that are too large for a message."""


@dataclass(frozen=True, kw_only=True)
class GateRequest:
    """About one gate."""

    gate: str


@dataclass(frozen=True, kw_only=True)
class GateBrief:
    """The state of a gate and what to play next; `request` is None when it is over or waits for its probes."""

    gate: str
    trial: str
    status: str
    next_batch: int
    request: PlayRequest | None = None
    next_gate: str | None = None
    """After the end of this gate: the gate of the waiting candidate, which was opened next."""
    next_trial: str | None = None
    """The trial that the next gate's candidate belongs to."""
    probing: bool = False
    """No games are to be played, yet the gate is not over: it waits for its probes."""


@dataclass(frozen=True, kw_only=True)
class GateBatch:
    """The games of one batch of a gate, to be recorded."""

    gate: str
    batch: int
    outcome: PlayOutcome


@dataclass(frozen=True, kw_only=True)
class GateStop:
    """An operator ends a gate early: it becomes invalid, never passed."""

    gate: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class GatesEnd:
    """A trial ends now: its running and waiting gates become invalid."""

    trial: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class OpenedGate:
    """A gate that runs, and the trial of its candidate."""

    gate: str
    trial: str


@dataclass(frozen=True, kw_only=True)
class GatesEnded:
    """Gates that were opened after those that ended; their workflows must be started."""

    gates: list[OpenedGate]


@dataclass(frozen=True, kw_only=True)
class EvaluationKey:
    """One evaluation of a player's newest version against the trial's target."""

    trial: str
    player: str
    generation: int


@dataclass(frozen=True, kw_only=True)
class EvaluationReport:
    """The games of an evaluation, to be recorded on the rating stream."""

    trial: str
    player: str
    generation: int
    request: PlayRequest
    outcome: PlayOutcome


@dataclass(frozen=True, kw_only=True)
class TargetState:
    """A player's result against the target."""

    win_rate: float
    low: float
    high: float
    games: int
    reached: bool


play_games = ActivityStub(
    name="play_games",
    queue=Queue.PLAY,
    message=PlayRequest,
    result=PlayOutcome,
    # a generous limit for slow games: a hung attempt is noticed by its heartbeat and the progress in it
    start_to_close=timedelta(hours=6),
    heartbeat=timedelta(seconds=10),
    retry=NO_RETRY,
    summary=lambda request: f"{request.occasion}: {request.pairs} pairs of games",
)
gate_brief = ActivityStub(name="gate_brief", queue=Queue.STORE, message=GateRequest, result=GateBrief)
record_gate_batch = ActivityStub(name="record_gate_batch", queue=Queue.STORE, message=GateBatch, result=GateBrief)
judge_gate_probe = ActivityStub(name="judge_gate_probe", queue=Queue.STORE, message=GateRequest, result=GateBrief)
stop_gate = ActivityStub(name="stop_gate", queue=Queue.STORE, urgency=before_all, message=GateStop, result=GateBrief)
end_gates = ActivityStub(name="end_gates", queue=Queue.STORE, message=GatesEnd, result=GatesEnded)
plan_evaluation = ActivityStub(
    name="plan_evaluation",
    queue=Queue.STORE,
    message=EvaluationKey,
    result=PlayRequest,
    start_to_close=timedelta(seconds=60),
)
record_evaluation = ActivityStub(
    name="record_evaluation",
    queue=Queue.STORE,
    message=EvaluationReport,
    result=TargetState,
    start_to_close=timedelta(seconds=300),  # the most games of an evaluation, in one transaction
)
