"""Reads which trials compete for crews, and keeps quotas: a generation that exceeds one is not planned yet."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus, TrialStatus
from api.store.core.clock import now
from api.store.core.errors import NotYet
from api.store.generations.outcome import TrainedGeneration
from api.store.tables import Decision, Generation, Player, Project, Trial
from api.store.trials.spec import spec_of
from league.fair_share import (
    QuotaStanding,
    TrialDemand,
    quota_used_up,
    smallest,
    takes_place_after,
    updated_cost,
)
from league.types import DecisionKind, Role

LEARNS = (Player.status == PlayerStatus.ACTIVE, Player.role.in_([role for role in Role if role.learns]))
TRAINING = (TrialStatus.RUNNING, TrialStatus.PAUSING, TrialStatus.STOPPING)
"""In these a generation may be under way."""


def running_demands(session: Session) -> dict[str, TrialDemand]:
    """The running trials, which compete for crews, by id."""
    rows = session.execute(
        select(Trial.id, Trial.project_id, Trial.priority, Trial.generation_cost, Project.priority.label("of_project"))
        .join(Project, Project.id == Trial.project_id)
        .where(Trial.status == TrialStatus.RUNNING)
    )
    return {
        row.id: TrialDemand(
            project=row.project_id,
            priority=row.priority,
            project_priority=row.of_project,
            cost=row.generation_cost,
        )
        for row in rows
    }


def note_cost(trial: Trial, trained: TrainedGeneration) -> None:
    """Update what a generation of the trial costs: the time in its crew, of all attempts, without waiting for one."""
    size = spec_of(trial).generation
    cpus = size.rollout_actors * (size.cpus or size.threads)
    speed = trained.metrics.get("steps_per_second", 0.0)
    known = math.isfinite(speed) and speed > 0
    seconds = trained.steps / speed if known else (trained.finished_at - trained.started_at).total_seconds()
    if seconds > 0:
        trial.generation_cost = updated_cost(trial.generation_cost, seconds * cpus)


def quota_of(session: Session, trial: Trial) -> int | None:
    """The most generations of the trial under way at once, by its own quota and its project's."""
    return smallest([trial.quota, session.scalar(select(Project.quota).where(Project.id == trial.project_id))])


def check_quota(session: Session, trial: Trial, player: Player, is_held: Callable[[Trial], bool]) -> None:
    """Raise NotYet while the quota of the trial or of its project is used up, or the next place is another trial's.

    The trial is locked. A trial that pauses or ends begins nothing anyway. `is_held` says of another trial that it may
    begin nothing now: a place that were kept for it would stay free for PLACE_PATIENCE, each time that one gets free.
    """
    if trial.status is not TrialStatus.RUNNING:
        return
    number = player.generation + 1
    if trial.quota is not None:
        own = _under_way(session, Trial.id == trial.id, beside=player).get(trial.id, 0)
        if quota_used_up(own, trial.quota):
            raise NotYet(f"generation {number} waits: the trial's quota of {trial.quota} generations is used up")
    project = session.get_one(Project, trial.project_id)
    if project.quota is None:
        return
    # two trials must not take the last place at once; a trial is always locked before its project
    session.refresh(project, with_for_update={"key_share": True})
    under_way = _under_way(session, Trial.project_id == project.id, beside=player)
    if quota_used_up(sum(under_way.values()), project.quota):
        raise NotYet(f"generation {number} waits: the quota of {project.quota} of project {project.name} is used up")
    standings = _standings(session, project, under_way)
    while (name := takes_place_after(trial.id, standings)) is not None:
        first = session.get_one(Trial, name)
        if not is_held(first):
            raise NotYet(
                f"generation {number} waits: the next place of project {project.name} is for trial {first.name}"
            )
        del standings[name]


def _planned() -> ColumnElement[bool]:
    return (
        select(Decision.id)
        .where(
            Decision.player_id == Player.id,
            Decision.kind == DecisionKind.MATCHMAKING,
            Decision.generation == Player.generation + 1,
        )
        .exists()
    )


def _under_way(session: Session, which: ColumnElement[bool], *, beside: Player) -> dict[str, int]:
    """Generations of other players that are planned and not recorded, by trial.

    The player's own plan, of an attempt before a rollback, must not keep it from its next one.
    """
    rows = session.execute(
        select(Player.trial_id, func.count())
        .join(Trial, Trial.id == Player.trial_id)
        .where(which, Player.id != beside.id, Trial.status.in_(TRAINING), *LEARNS, _planned())
        .group_by(Player.trial_id)
    )
    return {row[0]: row[1] for row in rows}


def _standings(session: Session, project: Project, under_way: Mapping[str, int]) -> dict[str, QuotaStanding]:
    newest = select(Decision.created_at).where(Decision.trial_id == Trial.id, Decision.kind == DecisionKind.MATCHMAKING)
    begun = newest.order_by(Decision.id.desc()).limit(1).correlate(Trial).scalar_subquery()
    recorded = select(Generation.recorded_at).where(Generation.trial_id == Trial.id)
    ended = recorded.order_by(Generation.commit.desc()).limit(1).correlate(Trial).scalar_subquery()
    rows = session.execute(
        select(
            Trial.id,
            Trial.priority,
            func.coalesce(begun, Trial.started_at, Trial.created_at).label("begun"),
            ended.label("ended"),
            func.count(Player.id).label("learners"),
        )
        .join(Player, Player.trial_id == Trial.id)
        .where(Trial.project_id == project.id, Trial.status == TrialStatus.RUNNING, *LEARNS)
        .group_by(Trial.id)
    ).all()
    present = now(session)
    freed = max((row.ended for row in rows if row.ended is not None), default=None)
    return {
        row.id: QuotaStanding(
            priority=row.priority,
            wants=under_way.get(row.id, 0) < row.learners,
            since_begun=present - row.begun,
            place_free=present - (max(row.begun, freed) if freed is not None else row.begun),
        )
        for row in rows
    }
