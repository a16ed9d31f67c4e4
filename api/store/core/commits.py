"""Numbered commits: every change of a league takes its trial's next number under the trial row's lock.

A transaction locks the trial first and writes its events last; the events' own lock is then never held while
waiting for a trial, so writers cannot block each other in a circle.

See docs/decisions/ids-commits-locks.md.
"""

from __future__ import annotations

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind
from api.store.core.errors import NotFound
from api.store.tables import Commit, Trial


def lock_trial(session: Session, trial_id: str) -> Trial:
    """The trial, fresh, with every other change of its league waiting until this transaction ends."""
    trial = session.scalars(
        select(Trial)
        .where(Trial.id == trial_id)
        # the weaker row lock: rows that merely point at the trial can still be inserted
        .with_for_update(key_share=True)
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
