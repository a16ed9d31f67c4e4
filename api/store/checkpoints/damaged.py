"""Damaged checkpoints: whether a file matches its hash, and which checkpoints of a trial are known to be damaged.

What the league does about one: `checkpoints.rollback` for a generation, `tournaments.withdrawals` for a tournament.
"""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.players.weights import checkpoint_of
from api.store.tables import Decision, ModelVersion
from league.types import CheckpointRef, DecisionKind
from orchestrator.storage.artifacts import ArtifactStore, DamagedArtifact, MissingArtifact, is_called_unreadable


def damaged_sha256(session: Session, trial_id: str) -> set[str]:
    """The hashes of the checkpoints that this trial's rollback decisions found damaged."""
    query = select(Decision.evidence["sha256"].astext).where(
        Decision.trial_id == trial_id, Decision.kind == DecisionKind.ROLLBACK
    )
    return set(session.scalars(query))


def is_known_damaged(session: Session, version_id: str) -> bool:
    """Whether a rollback decision of the version's trial found its checkpoint damaged."""
    found = select(Decision.id).join(ModelVersion, ModelVersion.trial_id == Decision.trial_id)
    found = found.where(ModelVersion.id == version_id, Decision.kind == DecisionKind.ROLLBACK)
    found = found.where(Decision.evidence["sha256"].astext == ModelVersion.sha256)
    return session.scalar(select(found.exists())) or False


def unreadable_sha256(session: Session, trial_id: str) -> set[str]:
    """The hashes of checkpoints that cannot be loaded although their bytes match the hash."""
    query = select(Decision.evidence["sha256"].astext, Decision.evidence["problem"].astext).where(
        Decision.trial_id == trial_id, Decision.kind == DecisionKind.ROLLBACK
    )
    return {sha256 for sha256, problem in session.execute(query) if is_called_unreadable(sha256, problem)}


def version_is_intact(artifacts: ArtifactStore, version: ModelVersion) -> bool:
    """Whether the version's file exists and matches its hash; an unreachable store raises."""
    checkpoint = checkpoint_of(version)
    return checkpoint is None or checkpoint_is_intact(artifacts, checkpoint)


def checkpoint_is_intact(artifacts: ArtifactStore, checkpoint: CheckpointRef) -> bool:
    """Whether the file exists and matches the hash."""
    try:
        artifacts.verify(checkpoint)
    except (DamagedArtifact, MissingArtifact):
        return False
    return True
