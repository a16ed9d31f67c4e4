"""What a trial's speed is computed from: the generations recorded last, and since when the trial runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import TrialStatus
from api.schemas.events import TrialStatusChanged
from api.store.core.clock import up_since
from api.store.tables import Event, Generation, Trial
from league.training_speed import WINDOW_SECONDS, TrainedSpan

MOST_GENERATIONS = 1_000
"""Generations that are looked at; a league that makes more in the window is measured over less time."""


@dataclass(frozen=True, slots=True)
class RecentTraining:
    """Recorded spans of a running trial within the window, in seconds since 1970."""

    since: float
    spans: list[TrainedSpan]
    steps: int
    budget: int | None


def recent_training(session: Session, trial_id: str, now: datetime) -> RecentTraining | None:
    """The trial's recorded generations of the last minutes; None where it does not train now."""
    trial = session.get(Trial, trial_id)
    if trial is None or trial.status not in (TrialStatus.RUNNING, TrialStatus.PAUSING, TrialStatus.STOPPING):
        return None
    since = max(now - timedelta(seconds=WINDOW_SECONDS), _running_since(session, trial), up_since(session))
    newest = (
        select(Generation.steps, Generation.started_at, Generation.finished_at)
        .where(Generation.trial_id == trial_id)
        .order_by(Generation.commit.desc())
        .limit(MOST_GENERATIONS)
        .subquery()
    )
    found = session.execute(select(newest).where(newest.c.finished_at > since)).all()
    if len(found) == MOST_GENERATIONS:
        since = max(since, min(row.finished_at for row in found))
    spans = [TrainedSpan(row.steps, row.started_at.timestamp(), row.finished_at.timestamp()) for row in found]
    budget = (trial.spec.get("budget") or {}).get("steps")
    return RecentTraining(since=since.timestamp(), spans=spans, steps=trial.steps, budget=budget)


def _running_since(session: Session, trial: Trial) -> datetime:
    began = session.scalar(
        select(Event.created_at)
        .where(Event.trial_id == trial.id, Event.type == TrialStatusChanged.KIND)
        .where(Event.payload["to"].astext == TrialStatus.RUNNING.value)
        .where(Event.payload["from"].astext != TrialStatus.RUNNING.value)  # an order repeated changes nothing
        .order_by(Event.id.desc())
        .limit(1)
    )
    return began or trial.started_at or trial.created_at
