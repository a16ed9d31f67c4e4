"""Reads the trials that share crews, and since when each of their learners may be waiting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.store.generations.fair_share import LEARNS, TRAINING, running_demands
from api.store.tables import Decision, Generation, Player, Project, Trial
from league.fair_share import shares
from league.types import DecisionKind


@dataclass(frozen=True, kw_only=True)
class LearnerInQueue:
    """A learning player, and when its next generation was planned or its last one recorded."""

    player_id: str
    name: str
    generation: int
    since: datetime


@dataclass(frozen=True, kw_only=True)
class SharingTrial:
    """A trial that trains, with the fields of TrialInQueue that the store knows."""

    fields: dict[str, Any]
    learners: list[LearnerInQueue]


def sharing_trials(session: Session) -> list[SharingTrial]:
    """The trials that train now, with their shares and learners."""
    due = shares(running_demands(session))
    rows = session.execute(
        select(
            Trial.id.label("trial_id"),
            Trial.name.label("trial"),
            Trial.priority,
            Trial.quota,
            Project.name.label("project"),
            Project.priority.label("project_priority"),
            Project.quota.label("project_quota"),
        )
        .join(Project, Project.id == Trial.project_id)
        .where(Trial.status.in_(TRAINING))
        .order_by(Trial.id)
    ).all()
    learners = _learners(session, [row.trial_id for row in rows])
    return [
        SharingTrial(
            fields={**row._asdict(), "share": due.get(row.trial_id, 0.0)}, learners=learners.get(row.trial_id, [])
        )
        for row in rows
    ]


def _learners(session: Session, trials: list[str]) -> dict[str, list[LearnerInQueue]]:
    planned = (
        select(func.min(Decision.created_at))
        .where(
            Decision.player_id == Player.id,
            Decision.kind == DecisionKind.MATCHMAKING,
            Decision.generation == Player.generation + 1,
        )
        .scalar_subquery()
    )
    recorded = (
        select(Generation.recorded_at)
        .where(Generation.player_id == Player.id, Generation.number == Player.generation)
        .scalar_subquery()
    )
    rows = session.execute(
        select(
            Player.trial_id,
            Player.id,
            Player.name,
            Player.generation,
            func.coalesce(planned, recorded, Player.created_at).label("since"),
        )
        .where(Player.trial_id.in_(trials), *LEARNS)
        .order_by(Player.id)
    )
    found: dict[str, list[LearnerInQueue]] = {}
    for row in rows:
        learner = LearnerInQueue(player_id=row.id, name=row.name, generation=row.generation, since=row.since)
        found.setdefault(row.trial_id, []).append(learner)
    return found
