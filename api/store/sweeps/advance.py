"""What a sweep does next, in one transaction: record values, decide, create trials, and say what to start and order.

Everything is read from rows under the sweep's lock, so a second delivery finds what the first one did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.schemas.enums import SweepStatus, TrialStatus
from api.store.core.clock import now
from api.store.core.events import NewEvent, append_events
from api.store.generations.turns import LEARNS
from api.store.sweeps.judge import judge_values, record_values
from api.store.sweeps.rows import Member, lock_sweep, members_of, spec_of_sweep, trial_name
from api.store.sweeps.sampling import next_point
from api.store.sweeps.started import mark_sweep_started
from api.store.sweeps.status import status_event
from api.store.tables import Player, Project, Sweep, SweepTrial, Trial
from api.store.trials.create import add_trial
from league.sweeps.rungs import bracket_of
from orchestrator.contracts.workflows import Mode
from orchestrator.spec.sweeps.points import middle_trial, trial_at
from orchestrator.spec.sweeps.sweep import SweepSpec


@dataclass(frozen=True, kw_only=True)
class Order:
    """The mode that a trial should be in, and why."""

    trial_id: str
    mode: Mode
    reason: str


@dataclass(frozen=True, kw_only=True)
class Advance:
    """What the sweep's workflow has to do."""

    start: tuple[Trial, ...] = ()
    orders: tuple[Order, ...] = ()
    over: bool = False


def advance_sweep(session: Session, sweep_id: str, *, crews: int = 0) -> Advance:
    """Take the sweep one step further; `crews` is how many generations the cluster trains at once, 0 if unknown."""
    sweep = lock_sweep(session, sweep_id)
    if sweep.status.is_final:
        return Advance(over=True)
    mark_sweep_started(session, sweep_id)
    events = _begin(session, sweep)
    spec, members = spec_of_sweep(sweep), members_of(session, sweep_id)
    slots = _slots(session, sweep, spec, crews)
    record_values(session, sweep, spec, members)
    events += judge_values(session, sweep, spec, members, complete=not _may_start(sweep, spec, members))
    resumed = _resumed(members, slots) if sweep.status is SweepStatus.RUNNING else set()
    if sweep.status is SweepStatus.RUNNING:
        events += _open_trials(session, sweep, spec, members, slots)
    orders = tuple(_orders(sweep, members, resumed))
    over = all(member.trial.status.is_final for member in members) and not _may_start(sweep, spec, members)
    append_events(session, events)
    waiting = (member.trial for member in members if member.trial.workflow_started_at is None)
    return Advance(start=tuple(trial for trial in waiting if not trial.status.is_final), orders=orders, over=over)


def _begin(session: Session, sweep: Sweep) -> list[NewEvent]:
    if sweep.status is not SweepStatus.PENDING:
        return []
    sweep.status, sweep.started_at = SweepStatus.RUNNING, now(session)
    return [status_event(sweep, SweepStatus.PENDING, None)]


def _may_start(sweep: Sweep, spec: SweepSpec, members: Sequence[Member]) -> bool:
    """Whether a further trial may still be created, now or after a pause."""
    if sweep.status is SweepStatus.STOPPING or len(members) >= spec.trial_count:
        return False
    total = spec.budget.total_steps
    return total is None or sum(member.trial.steps for member in members) < total


def _slots(session: Session, sweep: Sweep, spec: SweepSpec, crews: int) -> int:
    """How many trials may train at once: as the file says, or as many as the crews that no other trial uses allow."""
    if spec.parallel is not None:
        return spec.parallel
    others = select(Trial.id).where(
        Trial.status == TrialStatus.RUNNING, (Trial.sweep_id != sweep.id) | Trial.sweep_id.is_(None)
    )
    busy = session.scalar(select(func.count()).select_from(Player).where(Player.trial_id.in_(others), *LEARNS)) or 0
    learners = len(middle_trial(spec).league.learners)
    return max(1, (crews - busy) // max(1, learners))


def _resumed(members: Sequence[Member], slots: int) -> set[int]:
    """The paused trials that may train again: as many as there is room for, the lowest numbers first."""
    training = [member for member in members if member.takes_place]
    paused = [member.number for member in training if member.is_paused]
    room = slots - (len(training) - len(paused))
    return set(paused[: max(0, room)])


def _open_trials(
    session: Session, sweep: Sweep, spec: SweepSpec, members: list[Member], slots: int
) -> Iterator[NewEvent]:
    project = session.get_one(Project, sweep.project_id).name
    while _may_start(sweep, spec, members) and sum(member.takes_place for member in members) < slots:
        number = len(members)
        point = next_point(spec, members, number)
        bracket = bracket_of(spec.brackets, number)
        trial, created = add_trial(
            session,
            project=project,
            name=trial_name(sweep.name, number),
            spec=trial_at(spec, point, number),
            sweep_id=sweep.id,
        )
        entry = SweepTrial(
            sweep_id=sweep.id,
            number=number,
            trial_id=trial.id,
            bracket=bracket.number,
            first_rung=bracket.first_rung,
            point=point,
        )
        session.add(entry)
        session.flush()
        members.append(Member(entry=entry, trial=trial, values={}, decisions={}))
        yield from created


def _orders(sweep: Sweep, members: Sequence[Member], resumed: set[int]) -> Iterator[Order]:
    for member in members:
        trial = member.trial
        if trial.status.is_final or trial.status is TrialStatus.STOPPING:
            continue
        mode, reason = _wanted(sweep, member, resumed)
        follows = {Mode.PAUSE: trial.status is not TrialStatus.RUNNING, Mode.RUN: not member.is_paused}
        if not follows.get(mode, False):
            yield Order(trial_id=trial.id, mode=mode, reason=reason)


def _wanted(sweep: Sweep, member: Member, resumed: set[int]) -> tuple[Mode, str]:
    stopped = member.stopped_early
    if sweep.status is SweepStatus.STOPPING:
        return Mode.NOW, f"its sweep {sweep.name} ends: {sweep.status_reason or 'stopped'}"
    if stopped is not None:
        return Mode.NOW, f"stopped early by its sweep {sweep.name}: {stopped.reason}"
    if sweep.status is SweepStatus.PAUSED:
        return Mode.PAUSE, f"its sweep {sweep.name} is paused"
    if member.waits:
        return Mode.PAUSE, f"it waits at rung {member.next_rung} of its sweep {sweep.name} for the others"
    if member.is_paused and member.number not in resumed:
        return Mode.PAUSE, f"it waits for a free place in its sweep {sweep.name}"
    return Mode.RUN, ""
