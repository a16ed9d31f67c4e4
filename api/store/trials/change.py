"""Changes what people say about a trial: its name, tags and notes."""

from __future__ import annotations

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from api.schemas.enums import TrialKind
from api.schemas.events import TrialChanged
from api.schemas.trials import TrialChange
from api.store.core.commits import lock_trial
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events
from api.store.tables import Trial
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
    if not (trial.name != before or retagged or noted):
        return trial, None
    trial.revision += 1
    event = TrialChanged(
        name=trial.name, from_=before if trial.name != before else None, tags=tags if retagged else None, notes=noted
    )
    append_events(session, [NewEvent(trial_id=trial_id, payload=event)])
    return trial, event


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
