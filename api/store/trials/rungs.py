"""How far a trial of a sweep may train before its sweep has decided about it."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import SweepStatus, SweepVerdict
from api.store.core.errors import NotYet
from api.store.tables import Sweep, SweepDecision, SweepTrial, Trial
from orchestrator.spec.sweeps.sweep import SweepSpec


def rung_steps(session: Session, trial: Trial) -> list[int]:
    """The steps at which the trial's sweep compares it with others; none without a sweep."""
    if trial.sweep_id is None:
        return []
    return list(_spec(session.get_one(Sweep, trial.sweep_id)).ladder.steps)


def step_limit(session: Session, trial: Trial) -> int | None:
    """The steps of the rung that the trial trains for; None without a sweep."""
    if trial.sweep_id is None:
        return None
    sweep = session.get_one(Sweep, trial.sweep_id)
    entry = session.scalars(select(SweepTrial).where(SweepTrial.trial_id == trial.id)).one_or_none()
    if entry is None:
        return None
    passed = session.scalars(
        select(SweepDecision.rung).where(
            SweepDecision.sweep_id == sweep.id,
            SweepDecision.number == entry.number,
            SweepDecision.verdict == SweepVerdict.GO_ON,
        )
    ).all()
    rungs = _spec(sweep).ladder
    return rungs.steps[min(max(passed, default=entry.first_rung - 1) + 1, rungs.last)]


def check_sweep_allows(session: Session, trial: Trial, under_way: int) -> None:
    """Raise NotYet while the trial waits at a rung, or its sweep is paused: no step is trained meanwhile."""
    if trial.sweep_id is None:
        return
    if session.get_one(Sweep, trial.sweep_id, populate_existing=True).status is SweepStatus.PAUSED:
        raise NotYet("the trial's sweep is paused")
    limit = step_limit(session, trial)
    if limit is not None and trial.steps + under_way >= limit:
        raise NotYet(f"the trial waits at {limit} steps until its sweep has decided about it")


def _spec(sweep: Sweep) -> SweepSpec:
    return SweepSpec.model_validate(sweep.spec)
