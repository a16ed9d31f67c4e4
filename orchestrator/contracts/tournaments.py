"""Messages of tournaments: opened, planned, played, recorded, rated."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from orchestrator.contracts.play import PlayOutcome, PlayRequest
from orchestrator.contracts.queues import ActivityStub, Queue


def tournament_workflow_id(tournament: str) -> str:
    """The workflow of a tournament that somebody asked for; a schedule's firing has an id of Temporal's making."""
    return f"tournament-{tournament}"


def schedule_id(schedule: str) -> str:
    """The schedule's id at Temporal, and the beginning of the ids of the workflows it starts."""
    return f"schedule-{schedule}"


def firing_id(schedule: str, moment: datetime) -> str:
    """The workflow that Temporal starts for a firing at a moment, and so the occasion of its tournament."""
    return f"{schedule_id(schedule)}-{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(kw_only=True)
class TournamentState:
    """All that a tournament's workflow carries from run to run."""

    tournament: str = ""
    """Empty until a schedule's firing has opened one."""
    schedule: str = ""
    """The schedule that set it off, if one did."""
    tries: int = 0
    """Failed attempts at the pairings that come next, where earlier runs gave them over."""
    unreadable: int = 0
    """Runs up to this one, in a row, that could not read a checkpoint which the store finds sound."""


@dataclass(frozen=True, kw_only=True)
class TournamentRequest:
    """About one tournament."""

    tournament: str


@dataclass(frozen=True, kw_only=True)
class Firing:
    """One firing of a schedule; `occasion`, the workflow's id, makes it one tournament however often delivered."""

    schedule: str
    occasion: str


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A tournament that is there to be played; None where there is nothing to play, and why."""

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
    """What to play next: nothing when the tournament is over or was cancelled."""

    status: str
    pairings: list[PlannedPairing] = field(default_factory=list)
    at_once: int = 1


@dataclass(frozen=True, kw_only=True)
class PairingReport:
    """All games of one pairing, to be recorded whole."""

    tournament: str
    round: int
    pair: int
    outcome: PlayOutcome


@dataclass(frozen=True, kw_only=True)
class PairingSetback:
    """An attempt at a pairing that failed and will be made again; `key` is the same for every delivery."""

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
    """A firing that could not even open its tournament."""

    schedule: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class TrialEvaluation:
    """A player's newest version is due to be measured against a fixed field of its trial."""

    trial: str
    player: str
    generation: int


@dataclass(frozen=True, kw_only=True)
class EvaluationsEnd:
    """A trial ends: what becomes of its evaluations. `now` gives up those under way; else they are played out."""

    trial: str
    now: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class EvaluationsLeft:
    """Tournaments that are still under way and whose workflows must be told to end."""

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
    # what a killed store worker was recording is delivered again after this long
    start_to_close=timedelta(seconds=20),
)
note_pairing_setback = ActivityStub(
    name="note_pairing_setback", queue=Queue.STORE, message=PairingSetback, result=type(None)
)
withdraw_damaged = ActivityStub(
    name="withdraw_damaged",
    queue=Queue.STORE,
    message=DamagedPairing,
    result=type(None),
    # reads both sides' files to see which is damaged
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
