"""Garbage: checkpoints that no version refers to, such as those of attempts that lost the race to be recorded."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from api.store.models import ModelVersion
from league.types import CheckpointRef
from orchestrator.artifacts import ArtifactStore, Collected, MissingArtifact

_LOCK = 113628506914819
"""Held by all who record a checkpoint, shared, and by a collection alone."""


def keep_checkpoint(session: Session, artifacts: ArtifactStore, checkpoint: CheckpointRef) -> None:
    """Make sure that the file is there and stays until this transaction has named it."""
    session.execute(text(f"SELECT pg_advisory_xact_lock_shared({_LOCK})"))
    if not artifacts.exists(checkpoint):
        raise MissingArtifact(checkpoint.uri, checkpoint.sha256)


def collect_garbage(session: Session, artifacts: ArtifactStore, *, older_than: timedelta) -> Collected:
    """Remove what no version of any trial refers to and is older than `older_than`.

    Age alone is no proof: after a long outage an old file may be recorded at this very moment, hence the lock.
    """
    session.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    referenced = session.scalars(select(ModelVersion.sha256).where(ModelVersion.sha256.is_not(None)).distinct())
    return artifacts.collect({sha256 for sha256 in referenced if sha256 is not None}, older_than)
