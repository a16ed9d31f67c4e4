"""Reads sweeps and their trials, as answers show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import SweepStatus
from api.schemas.sweeps import Importance, Importances, RungResult, SweepSummary
from api.schemas.sweeps import Sweep as SweepAnswer
from api.schemas.sweeps import SweepTrial as SweepTrialAnswer
from api.store.core.errors import NotFound
from api.store.sweeps.rows import Member, members_of, spec_of_sweep
from api.store.sweeps.status import best_of
from api.store.sweeps.tpe import fanova
from api.store.tables import Project, Sweep
from league.sweeps import importances
from orchestrator.spec.sweeps.optuna_extra import can_fanova

FEWEST_FOR_FANOVA = 8


@dataclass(frozen=True, kw_only=True)
class SweepFilter:
    """Selects sweeps."""

    project: str | None = None
    name: str | None = None
    statuses: tuple[SweepStatus, ...] = ()


def get_sweep(session: Session, sweep_id: str) -> Sweep:
    """The row of one sweep."""
    row = session.get(Sweep, sweep_id)
    if row is None:
        raise NotFound(f"there is no sweep {sweep_id}")
    return row


def list_sweeps(session: Session, which: SweepFilter, *, before: str | None, limit: int) -> list[SweepSummary]:
    """Sweeps, the newest first."""
    query = select(Sweep, Project.name).join(Project, Project.id == Sweep.project_id).order_by(Sweep.id.desc())
    if which.project is not None:
        query = query.where(Project.name == which.project)
    if which.name is not None:
        query = query.where(Sweep.name == which.name)
    if which.statuses:
        query = query.where(Sweep.status.in_(which.statuses))
    if before is not None:
        query = query.where(Sweep.id < before)
    rows = session.execute(query.limit(limit)).all()
    return [_summary(session, sweep, project) for sweep, project in rows]


def read_sweep(session: Session, sweep_id: str) -> SweepAnswer:
    """One sweep with its file."""
    sweep = get_sweep(session, sweep_id)
    project = session.get_one(Project, sweep.project_id).name
    summary = _summary(session, sweep, project)
    rungs = list(spec_of_sweep(sweep).ladder.steps)
    return SweepAnswer(**summary.model_dump(), rungs=rungs, spec=sweep.spec)


def _summary(session: Session, sweep: Sweep, project: str) -> SweepSummary:
    spec, members = spec_of_sweep(sweep), members_of(session, sweep.id)
    best = best_of(members)
    return SweepSummary(
        id=sweep.id,
        project=project,
        name=sweep.name,
        method=spec.method,
        status=sweep.status,
        status_reason=sweep.status_reason,
        trials=spec.trial_count,
        trials_started=len(members),
        trials_ended=sum(member.trial.status.is_final for member in members),
        stopped_early=sum(member.stopped_early is not None for member in members),
        steps=sum(member.trial.steps for member in members),
        most_steps=spec.most_steps,
        best_trial_id=None if best is None else best.trial.id,
        best_trial=None if best is None else best.trial.name,
        best_value=None if best is None or best.newest is None else best.newest.value,
        created_at=sweep.created_at,
        started_at=sweep.started_at,
        finished_at=sweep.finished_at,
    )


def list_sweep_trials(session: Session, sweep_id: str, *, after: int | None, limit: int) -> list[SweepTrialAnswer]:
    """The sweep's trials by number, with their values and decisions."""
    get_sweep(session, sweep_id)
    first = 0 if after is None else after + 1
    return [_trial(member) for member in members_of(session, sweep_id)[first : first + limit]]


def _trial(member: Member) -> SweepTrialAnswer:
    newest = member.newest
    return SweepTrialAnswer(
        number=member.number,
        trial_id=member.trial.id,
        name=member.trial.name,
        status=member.trial.status,
        status_reason=member.trial.status_reason,
        steps=member.trial.steps,
        bracket=member.entry.bracket,
        point=member.entry.point,
        value=None if newest is None else newest.value,
        stopped_early=member.stopped_early is not None,
        rungs=[_rung(member, rung) for rung in sorted(member.values)],
    )


def _rung(member: Member, rung: int) -> RungResult:
    value, decision = member.values[rung], member.decisions.get(rung)
    return RungResult(
        rung=rung,
        steps=value.steps,
        value=value.value,
        verdict=None if decision is None else decision.verdict,
        reason=None if decision is None else decision.reason,
        evidence=None if decision is None else decision.evidence,
    )


def sweep_importances(session: Session, sweep_id: str) -> Importances:
    """How much each field matters: by optuna's fANOVA, or by the variance that each field by itself explains."""
    spec, members = spec_of_sweep(get_sweep(session, sweep_id)), members_of(session, sweep_id)
    points, values = _valued(members)
    if can_fanova() and len(values) >= FEWEST_FOR_FANOVA and len(set(values)) > 1:
        method, found = "fanova", fanova(spec.dimensions, points, values)
    else:
        method, found = "explained_variance", importances(spec.dimensions, points, values)
    items = [Importance(path=path, importance=share) for path, share in found.items()]
    return Importances.model_validate({"method": method, "trials": len(values), "items": items})


def _valued(members: Sequence[Member]) -> tuple[list[dict[str, object]], list[float]]:
    """Points and values of trials with a value; values of the lowest rung, where all trials can be compared."""
    points, values = [], []
    for member in members:
        lowest = member.values[min(member.values)] if member.values else None
        if lowest is not None and lowest.value is not None and lowest.value == lowest.value:
            points.append(dict(member.entry.point))
            values.append(lowest.value)
    return points, values
