"""Changes what people set of a trial: its name, tags, notes, priority and quota."""

from __future__ import annotations

import re

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from api.schemas.enums import SweepStatus, TrialKind, TrialStatus
from api.schemas.events import ProjectChanged, TrialChanged
from api.schemas.trials import TrialChange
from api.store.core.commits import lock_trial
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.tables import Project, Sweep, Trial
from api.store.trials.names import refuse_former_name

MOST_NAMES = 20
"""Former names of one trial: each stays reserved in its project."""


def change_trial(session: Session, trial_id: str, change: TrialChange) -> tuple[Trial, TrialChanged | None]:
    """The changed trial and its event; a change to what it already is changes nothing and has no event."""
    trial = lock_trial(session, trial_id, key=change.name is not None)
    if trial.kind is not TrialKind.LEAGUE:
        raise Conflict("this trial holds the shared bots of its project and cannot be changed")
    before = trial.name
    if change.name is not None and change.name != trial.name:
        _rename(session, trial, change.name)
    tags = None if change.tags is None else list(dict.fromkeys(change.tags))
    retagged = tags is not None and tags != trial.tags
    if tags is not None:
        trial.tags = tags
    noted = change.notes is not None and change.notes != trial.notes
    if change.notes is not None:
        trial.notes = change.notes
    weighed, limited = change_sharing(trial, change.priority, change.quota)
    if not (trial.name != before or retagged or noted or weighed or limited):
        return trial, None
    trial.revision += 1
    event = TrialChanged(
        name=trial.name,
        from_=before if trial.name != before else None,
        tags=tags if retagged else None,
        notes=noted,
        priority=trial.priority if weighed else None,
        quota=(trial.quota or 0) if limited else None,
    )
    append_events(session, [NewEvent(trial_id=trial_id, payload=event)])
    return trial, event


def change_project(session: Session, name: str, *, priority: float | None, quota: int | None) -> dict[str, float]:
    """Change a project's priority and quota (0: none); returns what changed. Its running trials get an event each."""
    project = session.scalars(select(Project).where(Project.name == name).with_for_update(key_share=True)).one_or_none()
    if project is None:
        raise NotFound(f"there is no project {name!r}")
    weighed, limited = change_sharing(project, priority, quota)
    changed: dict[str, float] = ({"priority": project.priority} if weighed else {}) | (
        {"quota": project.quota or 0} if limited else {}
    )
    if changed:
        running = session.scalars(
            select(Trial.id).where(Trial.project_id == project.id, Trial.status == TrialStatus.RUNNING)
        ).all()
        event = ProjectChanged(project=name, priority=changed.get("priority"), quota=_whole(changed.get("quota")))
        append_events(session, [NewEvent(trial_id=trial, payload=event) for trial in running])
    return changed


def _whole(quota: float | None) -> int | None:
    return None if quota is None else int(quota)


def change_sharing(row: Trial | Project, priority: float | None, quota: int | None) -> tuple[bool, bool]:
    """Set the priority and the quota that are given (0: no quota); returns which of them changed."""
    weighed = priority is not None and priority != row.priority
    limited = quota is not None and (quota or None) != row.quota
    if priority is not None:
        row.priority = priority
    if quota is not None:
        row.quota = quota or None
    return weighed, limited


def _rename(session: Session, trial: Trial, name: str) -> None:
    if trial.name not in trial.former_names:
        trial.former_names = [*trial.former_names, trial.name]
    if len(trial.former_names) > MOST_NAMES:
        raise Conflict(f"a trial has at most {MOST_NAMES} former names, which stay reserved")
    try:
        with session.begin_nested():
            trial.name = name
            session.flush()
    except IntegrityError:
        raise Conflict(f"the project already has a trial named {name!r}") from None
    refuse_former_name(session, trial)
    _refuse_name_of_sweep(session, trial)


def _refuse_name_of_sweep(session: Session, trial: Trial) -> None:
    """A sweep that still creates trials names them by its own name and a number."""
    found = re.fullmatch(r"(.+)-\d{3,}", trial.name)
    if found is None:
        return
    over = (SweepStatus.STOPPED, SweepStatus.COMPLETED, SweepStatus.FAILED)
    sweep = session.scalars(
        select(Sweep.name).where(
            Sweep.project_id == trial.project_id, Sweep.name == found[1], Sweep.status.not_in(over)
        )
    ).one_or_none()
    if sweep is not None:
        raise Conflict(f"sweep {sweep!r} may give the name {trial.name!r} to one of its trials")
