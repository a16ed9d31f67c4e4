"""Messages of tournaments: open, plan, record, rate, end."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from orchestrator.contracts.play import PlayOutcome, PlayRequest
from orchestrator.contracts.queues import ActivityStub, Queue


def tournament_workflow_id(tournament: str) -> str:
    """The workflow id of a tournament; Temporal makes the ids of those that a schedule starts."""
    return f"tournament-{tournament}"


def schedule_id(schedule: str) -> str:
    """The schedule's id at Temporal, and the prefix of the ids of the workflows it starts."""
    return f"schedule-{schedule}"


def firing_id(schedule: str, moment: datetime) -> str:
    """The id of the workflow that Temporal starts for a firing at this moment; it identifies the tournament."""
    return f"{schedule_id(schedule)}-{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(kw_only=True)
class TournamentState:
    """All that a tournament's workflow carries from run to run."""

    tournament: str = ""
    """Empty until a schedule's firing has created one."""
    schedule: str = ""
    """The schedule that started it, if any."""
    tries: int = 0
    """Failed attempts of earlier runs at the pairings that come next."""
    unreadable: int = 0
    """Consecutive runs that could not read a checkpoint which the store finds undamaged."""


@dataclass(frozen=True, kw_only=True)
class TournamentRequest:
    """About one tournament."""

    tournament: str


@dataclass(frozen=True, kw_only=True)
class Firing:
    """One firing of a schedule; `occasion`, the workflow's id, makes repeated deliveries find the same tournament."""

    schedule: str
    occasion: str


@dataclass(frozen=True, kw_only=True)
class Opened:
    """The tournament to play; None, with the reason, if there is nothing to play."""

    tournament: str | None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class PlannedPairing:
    """One pairing that can be played now."""

    round: int
    pair: int
    request: PlayRequest


@dataclass(frozen=True, kw_only=True)
class TournamentPlan:
    """What to play next; no pairings when the tournament has ended."""

    status: str
    pairings: list[PlannedPairing] = field(default_factory=list)
    at_once: int = 1


@dataclass(frozen=True, kw_only=True)
class PairingReport:
    """All games of one pairing, to be recorded in one transaction."""

    tournament: str
    round: int
    pair: int
    outcome: PlayOutcome


@dataclass(frozen=True, kw_only=True)
class FailedPairing:
    """A failed attempt at a pairing that will be retried; `key` is the same for every delivery."""

    tournament: str
    key: str
    round: int
    pair: int
    failure: str
    problem: str
    tries: int
    delay_seconds: float


@dataclass(frozen=True, kw_only=True)
class DamagedPairing:
    """A pairing that cannot be played because a side's checkpoint is damaged."""

    tournament: str
    round: int
    pair: int
    problem: str


@dataclass(frozen=True, kw_only=True)
class TournamentEnd:
    """How a tournament ends: `completed`, `cancelled` or `failed`, and why."""

    tournament: str
    status: str
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class ScheduleFailure:
    """A firing that could not create its tournament."""

    schedule: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class TrialEvaluation:
    """A player's newest version is due for an evaluation against a fixed field of its trial."""

    trial: str
    player: str
    generation: int


@dataclass(frozen=True, kw_only=True)
class EvaluationsEnd:
    """A trial ends. With `now` its running evaluations are cancelled; otherwise they are played to the end."""

    trial: str
    now: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class EvaluationsLeft:
    """Running tournaments whose workflows must be cancelled."""

    tournaments: list[str]


open_scheduled_tournament = ActivityStub(
    name="open_scheduled_tournament", queue=Queue.STORE, message=Firing, result=Opened
)
open_trial_evaluation = ActivityStub(
    name="open_trial_evaluation", queue=Queue.STORE, message=TrialEvaluation, result=Opened
)
plan_pairings = ActivityStub(name="plan_pairings", queue=Queue.STORE, message=TournamentRequest, result=TournamentPlan)
record_pairing = ActivityStub(
    name="record_pairing",
    queue=Queue.STORE,
    message=PairingReport,
    result=type(None),
    summary=lambda report: f"round {report.round}, pairing {report.pair}",
    # a report that a killed store worker was recording is delivered again after this time
    start_to_close=timedelta(seconds=20),
)
note_pairing_setback = ActivityStub(
    name="note_pairing_setback", queue=Queue.STORE, message=FailedPairing, result=type(None)
)
withdraw_damaged = ActivityStub(
    name="withdraw_damaged",
    queue=Queue.STORE,
    message=DamagedPairing,
    result=type(None),
    # reads the checkpoints of both sides to find the damaged one
    start_to_close=timedelta(minutes=2),
)
rate_tournament = ActivityStub(
    name="rate_tournament",
    queue=Queue.STORE,
    message=TournamentRequest,
    result=type(None),
    start_to_close=timedelta(minutes=2),
)
end_tournament = ActivityStub(name="end_tournament", queue=Queue.STORE, message=TournamentEnd, result=type(None))
end_evaluations = ActivityStub(
    name="end_evaluations", queue=Queue.STORE, message=EvaluationsEnd, result=EvaluationsLeft
)
note_schedule_failure = ActivityStub(
    name="note_schedule_failure", queue=Queue.STORE, message=ScheduleFailure, result=type(None)
)
