"""Audits files: every checkpoint that a version refers to exists and matches its hash."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.store.players.pruned import is_pruned
from api.store.tables import ModelVersion
from api.store.verify.report import Finding, FindingKind
from league.types import CheckpointRef
from orchestrator.storage.artifacts import ArtifactStore, DamagedArtifact, MissingArtifact


def referenced_files(session: Session) -> dict[CheckpointRef, int]:
    """Every checkpoint that versions refer to which were not pruned, and the number of those versions."""
    rows = session.execute(
        select(ModelVersion.uri, ModelVersion.sha256, ModelVersion.size, func.count())
        .where(ModelVersion.uri.is_not(None), ~is_pruned())
        .group_by(ModelVersion.uri, ModelVersion.sha256, ModelVersion.size)
        .order_by(ModelVersion.uri)
    )
    return {
        CheckpointRef(uri=uri, sha256=sha256, size=size): versions
        for uri, sha256, size, versions in rows
        if uri is not None and sha256 is not None and size is not None
    }


def wrong_files(artifacts: ArtifactStore, referenced: dict[CheckpointRef, int]) -> Iterator[Finding]:
    """Missing and damaged checkpoints. Each file is read and hashed."""
    for checkpoint, versions in referenced.items():
        subject = f"checkpoint {checkpoint.sha256} of {versions} versions"
        try:
            artifacts.verify(checkpoint)
        except MissingArtifact as error:
            yield Finding(wrong=FindingKind.ORPHANED, subject=subject, detail=str(error))
        except DamagedArtifact as error:
            yield Finding(wrong=FindingKind.DAMAGED, subject=subject, detail=str(error))
