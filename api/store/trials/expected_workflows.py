"""Which workflows should be running by the rows, and what a lost one starts again with.

See docs/decisions/trials.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from api.schemas.enums import (
    GateStatus,
    Overlap,
    PlayerStatus,
    ProbeStatus,
    SweepStatus,
    TournamentStatus,
    TrialKind,
    TrialStatus,
)
from api.schemas.events import TrialStatusChanged
from api.store.core.clock import now
from api.store.tables import Decision, Event, Gate, Generation, Player, Probe, Schedule, Sweep, Tournament, Trial
from league.types import DecisionKind, Role
from orchestrator.contracts.probes import probe_workflow_id
from orchestrator.contracts.sweeps import sweep_workflow_id
from orchestrator.contracts.tournaments import tournament_workflow_id
from orchestrator.contracts.workflows import (
    PAUSED_BY_OPERATOR,
    Mode,
    Status,
    TrialState,
    gate_workflow_id,
    player_workflow_id,
    trial_workflow_id,
)

_MODES = {TrialStatus.PAUSING: Mode.PAUSE, TrialStatus.PAUSED: Mode.PAUSE, TrialStatus.STOPPING: Mode.DRAIN}
_LIVE = [status for status in TrialStatus if not status.is_final]
_COUNTED = (TrialStatus.RUNNING, TrialStatus.PAUSING, TrialStatus.STOPPING)
"""The wall-clock budget counts them; pauses do not count."""
_LEARNING = [role for role in Role if role.learns]


@dataclass(frozen=True, kw_only=True)
class ExpectedWorkflow:
    """A row that is not over, and so has a workflow."""

    kind: str
    """trial, player, gate, tournament, sweep or probe."""
    row_id: str
    workflow_id: str
    name: str
    trial_id: str | None
    generation: int = 0
    """Of a player: the newest judged one."""


def expected_workflows(session: Session) -> list[ExpectedWorkflow]:
    """All rows whose workflow was started and that are not over; trials come first."""
    return [*_trials(session), *_players(session), *_gates(session), *_others(session)]


def state_to_continue(session: Session, trial_id: str) -> TrialState:
    """The state with which a trial's workflow takes the place of a lost one."""
    trial = session.get_one(Trial, trial_id)
    mode = _MODES.get(trial.status, Mode.RUN)
    return TrialState(
        trial=trial_id,
        status=Status(trial.status.value),
        reason=trial.status_reason or "",
        final=Status.STOPPED if mode.ends else None,
        mode=mode,
        launched=trial.started_at is not None,
        gates=list(
            session.scalars(select(Gate.id).where(Gate.trial_id == trial_id, Gate.status == GateStatus.RUNNING))
        ),
        seconds_used=_seconds_of_running(session, trial_id),
        # a trial that a person paused is not resumed by its sweep
        paused_by_sweep=trial.sweep_id is not None and trial.status_reason != PAUSED_BY_OPERATOR,
    )


def judged_generation(session: Session, player_id: str, newest: int) -> int:
    """The generation after which a player goes on whose workflow was lost: the newest recorded one, if it was judged.

    One that was recorded and not judged is delivered again: its record is found, and its judgement made.
    """
    recorded = select(Generation.number).where(Generation.player_id == player_id, Generation.number == newest)
    judged = select(Decision.id).where(
        Decision.player_id == player_id, Decision.generation == newest, Decision.kind == DecisionKind.SNAPSHOT
    )
    unjudged = session.scalar(recorded) is not None and session.scalar(judged.limit(1)) is None
    return newest - 1 if unjudged else newest


def _trials(session: Session) -> list[ExpectedWorkflow]:
    rows = session.execute(
        select(Trial.id, Trial.name).where(
            Trial.status.in_(_LIVE), Trial.kind == TrialKind.LEAGUE, Trial.workflow_started_at.is_not(None)
        )
    )
    return [
        ExpectedWorkflow(
            kind="trial", row_id=row.id, workflow_id=trial_workflow_id(row.id), name=row.name, trial_id=row.id
        )
        for row in rows
    ]


def _players(session: Session) -> list[ExpectedWorkflow]:
    rows = session.execute(
        select(Player.id, Player.name, Player.trial_id, Player.generation)
        .join(Trial, Trial.id == Player.trial_id)
        .where(
            Trial.status.in_(_LIVE),
            Trial.started_at.is_not(None),
            Player.status == PlayerStatus.ACTIVE,
            Player.role.in_(_LEARNING),
        )
    )
    return [
        ExpectedWorkflow(
            kind="player",
            row_id=row.id,
            workflow_id=player_workflow_id(row.id),
            name=row.name,
            trial_id=row.trial_id,
            generation=judged_generation(session, row.id, row.generation),
        )
        for row in rows
    ]


def _gates(session: Session) -> list[ExpectedWorkflow]:
    rows = session.execute(select(Gate.id, Gate.alias, Gate.trial_id).where(Gate.status == GateStatus.RUNNING))
    return [
        ExpectedWorkflow(
            kind="gate", row_id=row.id, workflow_id=gate_workflow_id(row.id), name=row.alias, trial_id=row.trial_id
        )
        for row in rows
    ]


def _tournaments(session: Session) -> list[ExpectedWorkflow]:
    rows = session.scalars(
        select(Tournament)
        .outerjoin(Schedule, Schedule.id == Tournament.schedule_id)
        .where(
            Tournament.status == TournamentStatus.RUNNING,
            Tournament.workflow_started_at.is_not(None),
            # Temporal ends the workflow at the next firing of such a schedule, and that firing ends the row
            or_(Schedule.id.is_(None), Schedule.overlap.not_in((Overlap.TERMINATE_OTHER, Overlap.CANCEL_OTHER))),
        )
    )
    return [
        ExpectedWorkflow(
            kind="tournament",
            row_id=row.id,
            # Temporal names the workflow of a schedule's firing: the `occasion`
            workflow_id=(row.schedule_id and row.occasion) or tournament_workflow_id(row.id),
            name=row.name,
            trial_id=row.trial_id,
        )
        for row in rows
    ]


def _others(session: Session) -> list[ExpectedWorkflow]:
    return [*_tournaments(session), *_sweeps(session), *_probes(session)]


def _probes(session: Session) -> list[ExpectedWorkflow]:
    over = [status for status in ProbeStatus if status.is_final]
    rows = session.execute(
        select(Probe.id, Probe.trial_id).where(Probe.status.not_in(over), Probe.workflow_started_at.is_not(None))
    )
    return [
        ExpectedWorkflow(
            kind="probe", row_id=row.id, workflow_id=probe_workflow_id(row.id), name=row.id, trial_id=row.trial_id
        )
        for row in rows
    ]


def _sweeps(session: Session) -> list[ExpectedWorkflow]:
    over = [status for status in SweepStatus if status.is_final]
    rows = session.execute(
        select(Sweep.id, Sweep.name).where(Sweep.status.not_in(over), Sweep.workflow_started_at.is_not(None))
    )
    return [
        ExpectedWorkflow(
            kind="sweep", row_id=row.id, workflow_id=sweep_workflow_id(row.id), name=row.name, trial_id=None
        )
        for row in rows
    ]


def _seconds_of_running(session: Session, trial_id: str) -> float:
    """How long the trial was not paused since it started, by its recorded changes of status."""
    changes: Sequence[tuple[datetime, str]] = [
        (event.created_at, event.payload.get("to", ""))
        for event in session.scalars(
            select(Event).where(Event.trial_id == trial_id, Event.type == TrialStatusChanged.KIND).order_by(Event.id)
        )
    ]
    ends = [*(moment for moment, _ in changes[1:]), now(session)]
    spans = zip(changes, ends, strict=False)  # without changes there is one end too many
    return sum((end - moment).total_seconds() for (moment, to), end in spans if to in _COUNTED)
