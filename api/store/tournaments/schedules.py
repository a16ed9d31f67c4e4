"""Schedules of tournaments. The row is the source of truth; Temporal's schedule is synced to it, at once or later.

A row whose `workflow_started_at` is empty is not synced yet: it is new, changed or deleted.

See docs/decisions/tournaments.md.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.schemas.enums import Overlap, TournamentPurpose, TournamentStatus, TrialStatus
from api.schemas.events import ScheduleChanged, ScheduleCreated, ScheduleDeleted, ScheduleFailed
from api.store.core.clock import now
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.tables import Project, Schedule, Tournament, Trial
from api.store.tournaments.entrants import admit_bots
from api.store.tournaments.lifecycle import CreatedFor, close_tournament, create_tournament, find_arena
from api.store.trials.names import first_name, first_names
from api.store.trials.spec import spec_of
from league.seeds import derived_seed
from orchestrator.spec.tournament import TournamentSpec, check_tournament

NIGHTLY = "nightly-"
"""Prefix of the name of a schedule that a trial file asks for."""
UNFINISHED = (TournamentStatus.PENDING, TournamentStatus.RUNNING)


@dataclass(frozen=True, kw_only=True)
class Timing:
    """When a schedule fires and what it does about firings that were missed or come too soon."""

    cron: str | None = None
    every_seconds: int | None = None
    time_zone: str = "UTC"
    overlap: Overlap = Overlap.SKIP
    catchup_window_seconds: int = 3600

    def check(self) -> None:
        """Raise Conflict for an unknown time zone."""
        try:
            zoneinfo.ZoneInfo(self.time_zone)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            raise Conflict(
                f"there is no time zone {self.time_zone!r}; allowed: names as Europe/Berlin or UTC"
            ) from None


def create_schedule(session: Session, project: str, name: str, timing: Timing, spec: TournamentSpec) -> Schedule:
    """A new schedule. Its trial must exist; its entrants may come later."""
    schedule = _add_schedule(session, project, name, timing, spec)
    append_events(session, [_created(schedule)])
    return schedule


def _add_schedule(session: Session, project: str, name: str, timing: Timing, spec: TournamentSpec) -> Schedule:
    timing.check()
    arena = find_arena(session, project, spec)
    made = session.scalar(
        upsert(Schedule)
        .values(
            id=new_id(),
            project_id=arena.project_id,
            trial_id=None if arena.trial is None else arena.trial.id,
            name=name,
            tournament=spec.to_json(),
            cron=timing.cron,
            every_seconds=timing.every_seconds,
            time_zone=timing.time_zone,
            overlap=timing.overlap,
            catchup_window_seconds=timing.catchup_window_seconds,
        )
        .on_conflict_do_nothing()
        .returning(Schedule.id)
    )
    if made is None:
        raise Conflict(f"project {project!r} already has a schedule named {name!r}")
    return session.get_one(Schedule, made)


def change_schedule(session: Session, schedule_id: str, changes: dict[str, Any]) -> Schedule:
    """Pause, resume or retime a schedule; returns the row, which is to be synced."""
    schedule = _change(session, schedule_id, changes)
    append_events(session, [_changed(schedule)])
    return schedule


def _change(session: Session, schedule_id: str, changes: dict[str, Any]) -> Schedule:
    schedule = lock_schedule(session, schedule_id)
    for name, value in changes.items():
        setattr(schedule, name, value)
    if not schedule.paused:
        schedule.pause_note = None
    Timing(time_zone=schedule.time_zone).check()
    schedule.revision += 1
    schedule.workflow_started_at = None
    session.flush()
    return schedule


def delete_schedule(session: Session, schedule_id: str) -> Schedule:
    """Delete a schedule. Its tournaments stay, and a running one continues."""
    schedule = lock_schedule(session, schedule_id)
    schedule.deleted_at = now(session)
    schedule.revision += 1
    schedule.workflow_started_at = None
    session.flush()
    deleted = ScheduleDeleted(**_payload(schedule))
    append_events(session, [NewEvent(trial_id=schedule.trial_id, payload=deleted)])
    return schedule


def lock_schedule(session: Session, schedule_id: str) -> Schedule:
    """The schedule, read under a FOR NO KEY UPDATE lock; NotFound if it was deleted."""
    schedule = session.get(Schedule, schedule_id, with_for_update={"key_share": True}, populate_existing=True)
    if schedule is None or schedule.deleted_at is not None:
        raise NotFound(f"there is no schedule {schedule_id}")
    return schedule


def unsynced_schedules(session: Session, limit: int) -> Sequence[str]:
    """Schedules that are not synced to Temporal yet, oldest first."""
    return session.scalars(
        select(Schedule.id).where(Schedule.workflow_started_at.is_(None)).order_by(Schedule.id).limit(limit)
    ).all()


def live_schedules(session: Session) -> Sequence[str]:
    """Schedules that are not deleted."""
    return session.scalars(select(Schedule.id).where(Schedule.deleted_at.is_(None)).order_by(Schedule.id)).all()


def mark_synced(session: Session, schedule_id: str, revision: int) -> None:
    """Mark a revision as synced to Temporal; a newer revision stays unsynced."""
    session.execute(
        update(Schedule)
        .where(Schedule.id == schedule_id, Schedule.revision == revision)
        .values(workflow_started_at=func.now())
    )


def record_refusal(session: Session, schedule_id: str, reason: str) -> None:
    """Record that Temporal refuses the schedule, until it is changed."""
    session.execute(update(Schedule).where(Schedule.id == schedule_id).values(last_error=reason))


def open_firing(session: Session, schedule_id: str, occasion: str) -> Tournament:
    """The tournament of one firing, created or found. The occasion is part of its seed, so each plays other games."""
    _admit_bots(session, schedule_id)
    schedule = lock_schedule(session, schedule_id)
    ended = _end_terminated(session, schedule, occasion) if schedule.overlap is Overlap.TERMINATE_OTHER else []
    spec = check_tournament(schedule.tournament)
    seed = derived_seed(spec.seed or 0, occasion)
    project = session.get_one(Project, schedule.project_id).name
    tournament = create_tournament(
        session,
        project,
        spec.model_copy(update={"seed": seed}),
        created_for=CreatedFor(purpose=TournamentPurpose.SCHEDULE, schedule_id=schedule_id, occasion=occasion),
        name=schedule.name,
        started=True,
    )
    append_events(session, ended)
    return tournament


def _admit_bots(session: Session, schedule_id: str) -> None:
    """Create the bots before the schedule is locked, since a new bot locks a trial. A schedule's spec never changes."""
    schedule = session.get(Schedule, schedule_id)
    if schedule is not None and schedule.deleted_at is None:
        spec = check_tournament(schedule.tournament)
        arena = find_arena(session, session.get_one(Project, schedule.project_id).name, spec)
        admit_bots(session, arena, [*spec.challengers, *spec.entrants])


def record_failure(session: Session, schedule_id: str, reason: str) -> None:
    """Record that a firing opened no tournament, until one succeeds."""
    schedule = session.get(Schedule, schedule_id)
    if schedule is None:
        raise NotFound(f"there is no schedule {schedule_id}")
    schedule.last_error = reason
    session.flush()
    failed = ScheduleFailed(**_payload(schedule), reason=reason)
    append_events(session, [NewEvent(trial_id=schedule.trial_id, payload=failed)])


def sync_trial_schedules(session: Session) -> list[str]:
    """Create the schedules that trial files ask for, pause those of ended trials, and return the ids of both."""
    # by name, deleted ones included: a schedule that a user made or deleted is not made again
    known = (Schedule.project_id == Trial.project_id) & (Schedule.name == func.concat(NIGHTLY, first_names()))
    asked = session.scalars(
        select(Trial)
        .outerjoin(Schedule, known)
        .where(
            Trial.spec["evaluation"]["schedule"].astext.is_not(None),
            Trial.status.not_in([status for status in TrialStatus if status.is_final]),
            Schedule.id.is_(None),
        )
        .order_by(Trial.id)
    ).all()
    made = [_of_trial_file(session, trial) for trial in asked]
    over = session.scalars(
        select(Schedule.id)
        .join(Trial, Trial.id == Schedule.trial_id)
        .where(
            Trial.status.in_([status for status in TrialStatus if status.is_final]),
            Schedule.deleted_at.is_(None),
            Schedule.paused.is_(False),
            Schedule.name == func.concat(NIGHTLY, first_names()),
            Schedule.revision == 1,  # a schedule that a user has changed is left as it is
        )
        .order_by(Schedule.id)
    ).all()
    pause = {"paused": True, "pause_note": "its trial has ended"}
    paused = [_change(session, schedule_id, pause) for schedule_id in over]
    append_events(session, [*map(_created, made), *map(_changed, paused)])
    return [schedule.id for schedule in (*made, *paused)]


def _of_trial_file(session: Session, trial: Trial) -> Schedule:
    evaluation = spec_of(trial).evaluation
    named = f"{NIGHTLY}{first_name(trial)}"  # stays when the trial is renamed, so that there is one schedule
    spec = TournamentSpec(trial=trial.name, format="swiss", seeding="rating", name=named[:63])
    project = session.get_one(Project, trial.project_id).name
    return _add_schedule(session, project, named, Timing(cron=evaluation.schedule), spec)


def _end_terminated(session: Session, schedule: Schedule, occasion: str) -> list[NewEvent]:
    """End tournaments whose workflow was terminated, and return their events, to be written last."""
    left = session.scalars(
        select(Tournament.id)
        .where(
            Tournament.schedule_id == schedule.id,
            Tournament.status.in_(UNFINISHED),
            Tournament.occasion != occasion,
        )
        .order_by(Tournament.id)
    ).all()
    reason = "terminated by the schedule's next firing"
    closed = [close_tournament(session, each, TournamentStatus.CANCELLED, reason) for each in left]
    return [each.event for each in closed if each is not None]


def _created(schedule: Schedule) -> NewEvent:
    return NewEvent(trial_id=schedule.trial_id, payload=ScheduleCreated(**_payload(schedule)))


def _changed(schedule: Schedule) -> NewEvent:
    payload = ScheduleChanged(**_payload(schedule), paused=schedule.paused)
    return NewEvent(trial_id=schedule.trial_id, payload=payload)


def _payload(schedule: Schedule) -> dict[str, Any]:
    """The fields that every event about a schedule has."""
    return {"schedule_id": schedule.id, "name": schedule.name, "revision": schedule.revision}
