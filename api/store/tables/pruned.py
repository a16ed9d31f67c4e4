"""Versions whose checkpoints retention gave up: their rows stay, their files go."""

from __future__ import annotations

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from api.store.tables.base import Base, CreatedAt, Ref


class PrunedVersion(Base):
    """A version without its checkpoint. Append-only: what is pruned stays pruned."""

    __tablename__ = "pruned_versions"

    version_id: Mapped[Ref] = mapped_column(ForeignKey("model_versions.id"), primary_key=True)
    created_at: Mapped[CreatedAt]
