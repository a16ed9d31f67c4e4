"""Names for checkpoints and the artifacts that hold them: `from lanista.checkpoints import ArtifactStore, load`."""

from league.types import CheckpointRef
from orchestrator.catalog import Component
from orchestrator.storage.artifacts import (
    ArtifactError,
    ArtifactStore,
    ArtifactStoreFull,
    ArtifactStoreUnavailable,
    DamagedArtifact,
    MissingArtifact,
)
from workers.checkpoints import Checkpoint, CheckpointError, CheckpointMismatch, UnreadableCheckpoint, load, save

__all__ = [
    "ArtifactError",
    "ArtifactStore",
    "ArtifactStoreFull",
    "ArtifactStoreUnavailable",
    "Checkpoint",
    "CheckpointError",
    "CheckpointMismatch",
    "CheckpointRef",
    "Component",
    "DamagedArtifact",
    "MissingArtifact",
    "UnreadableCheckpoint",
    "load",
    "save",
]
