"""Archives trials: they stay readable and leave the lists."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.schemas.events import TrialArchived
from api.store.core.commits import lock_trial
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events
from api.store.tables import Trial


def archive_trial(session: Session, trial_id: str) -> Trial:
    """Archive an ended trial. Archiving it again changes nothing."""
    trial = lock_trial(session, trial_id)
    if trial.archived_at is not None:
        return trial
    if not trial.status.is_final:
        raise Conflict(
            f"trial {trial.name!r} is {trial.status}; only one that has ended can be archived: stop it first",
            trial_status=trial.status.value,
        )
    trial.archived_at = session.scalars(select(func.now())).one()
    trial.revision += 1
    append_events(session, [NewEvent(trial_id=trial_id, payload=TrialArchived())])
    return trial
