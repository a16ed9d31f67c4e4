"""Schedules of tournaments. The row is the truth; Temporal is brought to agree with it, now or by reconciliation.

A row whose `workflow_started_at` is empty waits to be taken by Temporal: as new, as changed or as deleted.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.store.clock import now
from api.store.errors import Conflict, NotFound
from api.store.events import NewEvent, append_events
from api.store.ids import new_id
from api.store.models import Project, Schedule, Tournament, Trial
from api.store.models.words import Overlap, TournamentStatus, TrialStatus
from api.store.seeds import derived_seed
from api.store.specs import spec_of
from api.store.tournaments import create_tournament, end_tournament, find_arena
from orchestrator.spec.tournament import TournamentSpec, check_tournament

NIGHTLY = "nightly-"
"""Begins the name of the schedule that a trial file asks for."""
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
        """Raise Conflict for a time zone that nobody knows."""
        try:
            zoneinfo.ZoneInfo(self.time_zone)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            raise Conflict(
                f"there is no time zone {self.time_zone!r}; allowed: names as Europe/Berlin or UTC"
            ) from None


def create_schedule(session: Session, project: str, name: str, timing: Timing, spec: TournamentSpec) -> Schedule:
    """A new schedule; its trial and game must be there already, its entrants may come later."""
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
    schedule = session.get_one(Schedule, made)
    append_events(session, [_event(schedule, "schedule.created")])
    return schedule


def change_schedule(session: Session, schedule_id: str, changes: dict[str, Any]) -> Schedule:
    """Pause, resume or retime; returns the row, which Temporal is yet to take."""
    schedule = lock_schedule(session, schedule_id)
    for name, value in changes.items():
        setattr(schedule, name, value)
    if not schedule.paused:
        schedule.pause_note = None
    Timing(time_zone=schedule.time_zone).check()
    schedule.revision += 1
    schedule.workflow_started_at = None
    session.flush()
    append_events(session, [_event(schedule, "schedule.changed", paused=schedule.paused)])
    return schedule


def delete_schedule(session: Session, schedule_id: str) -> Schedule:
    """Its tournaments stay; one under way goes on."""
    schedule = lock_schedule(session, schedule_id)
    schedule.deleted_at = now(session)
    schedule.revision += 1
    schedule.workflow_started_at = None
    session.flush()
    append_events(session, [_event(schedule, "schedule.deleted")])
    return schedule


def lock_schedule(session: Session, schedule_id: str) -> Schedule:
    """The schedule, fresh and unless it was deleted."""
    schedule = session.get(Schedule, schedule_id, with_for_update={"key_share": True}, populate_existing=True)
    if schedule is None or schedule.deleted_at is not None:
        raise NotFound(f"there is no schedule {schedule_id}")
    return schedule


def untaken_schedules(session: Session, limit: int) -> Sequence[str]:
    """Schedules that Temporal does not agree with yet, the oldest first."""
    return session.scalars(
        select(Schedule.id).where(Schedule.workflow_started_at.is_(None)).order_by(Schedule.id).limit(limit)
    ).all()


def mark_taken(session: Session, schedule_id: str, revision: int) -> None:
    """Temporal agrees with this revision; a change since then is still to be taken."""
    session.execute(
        update(Schedule)
        .where(Schedule.id == schedule_id, Schedule.revision == revision)
        .values(workflow_started_at=func.now())
    )


def note_refusal(session: Session, schedule_id: str, reason: str) -> None:
    """Temporal will not take it as it is; shown until it is changed."""
    session.execute(update(Schedule).where(Schedule.id == schedule_id).values(last_error=reason))


def open_firing(session: Session, schedule_id: str, occasion: str) -> Tournament:
    """The tournament of one firing, made now or found. Each plays games of its own: the occasion is in the seed."""
    schedule = lock_schedule(session, schedule_id)
    if schedule.overlap is Overlap.TERMINATE_OTHER:
        _end_terminated(session, schedule, occasion)
    spec = check_tournament(schedule.tournament)
    seed = derived_seed(spec.seed or 0, occasion)
    project = session.get_one(Project, schedule.project_id).name
    return create_tournament(
        session,
        project,
        spec.model_copy(update={"seed": seed}),
        schedule_id=schedule_id,
        occasion=occasion,
        name=schedule.name,
        started=True,
    )


def note_failure(session: Session, schedule_id: str, reason: str) -> None:
    """A firing that opened no tournament; shown until one succeeds."""
    schedule = session.get(Schedule, schedule_id)
    if schedule is None:
        raise NotFound(f"there is no schedule {schedule_id}")
    schedule.last_error = reason
    session.flush()
    append_events(session, [_event(schedule, "schedule.failed", reason=reason)])


def follow_trial_files(session: Session) -> list[str]:
    """Make the schedules that trial files ask for, and pause those whose trial has ended; which were changed."""
    # by its name, deleted ones too: what a person made or removed is not made again
    known = (Schedule.project_id == Trial.project_id) & (Schedule.name == func.concat(NIGHTLY, Trial.name))
    asked = session.scalars(
        select(Trial)
        .outerjoin(Schedule, known)
        .where(
            Trial.spec["evaluation"]["schedule"].astext.is_not(None),
            Trial.status.not_in([status for status in TrialStatus if status.final]),
            Schedule.id.is_(None),
        )
    ).all()
    changed = [_of_trial_file(session, trial).id for trial in asked]
    over = session.scalars(
        select(Schedule.id)
        .join(Trial, Trial.id == Schedule.trial_id)
        .where(
            Trial.status.in_([status for status in TrialStatus if status.final]),
            Schedule.deleted_at.is_(None),
            Schedule.paused.is_(False),
            Schedule.name == func.concat(NIGHTLY, Trial.name),
            Schedule.revision == 1,  # one that a person has touched stays as that person wants it
        )
    ).all()
    for schedule_id in over:
        change_schedule(session, schedule_id, {"paused": True, "pause_note": "its trial has ended"})
    return [*changed, *over]


def _of_trial_file(session: Session, trial: Trial) -> Schedule:
    evaluation = spec_of(trial).evaluation
    spec = TournamentSpec(trial=trial.name, format="swiss", seeding="rating", name=f"{NIGHTLY}{trial.name}"[:63])
    project = session.get_one(Project, trial.project_id).name
    return create_schedule(session, project, f"{NIGHTLY}{trial.name}", Timing(cron=evaluation.schedule), spec)


def _end_terminated(session: Session, schedule: Schedule, occasion: str) -> None:
    """A terminated workflow cannot say so itself."""
    left = session.scalars(
        select(Tournament.id).where(
            Tournament.schedule_id == schedule.id,
            Tournament.status.in_(UNFINISHED),
            Tournament.occasion != occasion,
        )
    ).all()
    for tournament_id in left:
        end_tournament(session, tournament_id, TournamentStatus.CANCELLED, "terminated by the schedule's next firing")


def _event(schedule: Schedule, kind: str, **details: Any) -> NewEvent:
    payload = {"schedule_id": schedule.id, "name": schedule.name, "revision": schedule.revision, **details}
    return NewEvent(type=kind, trial_id=schedule.trial_id, payload=payload)
