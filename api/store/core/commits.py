"""Numbered commits: every change of a league takes its trial's next number under the trial row's lock.

A transaction locks the trial first and writes its events last. So the lock of the events is never held while waiting
for a trial, and writers cannot deadlock.

See docs/decisions/store.md.
"""

from __future__ import annotations

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind
from api.store.core.errors import NotFound
from api.store.tables import Commit, Trial


def lock_trial(session: Session, trial_id: str, *, key: bool = False) -> Trial:
    """The trial, read under a FOR NO KEY UPDATE lock: other changes of its league wait until this transaction ends.

    With `key`, FOR UPDATE: to change its name, which is part of a unique key, without upgrading the lock later.
    """
    trial = session.scalars(
        select(Trial)
        .where(Trial.id == trial_id)
        # FOR NO KEY UPDATE: rows that refer to the trial can still be inserted
        .with_for_update(key_share=not key)
        .execution_options(populate_existing=True)
    ).one_or_none()
    if trial is None:
        raise NotFound(f"there is no trial {trial_id}")
    return trial


def take_commit(session: Session, trial: Trial, kind: CommitKind) -> int:
    """The next commit number of a locked trial."""
    trial.last_commit += 1
    session.flush()
    session.execute(insert(Commit).values(trial_id=trial.id, number=trial.last_commit, kind=kind))
    return trial.last_commit
