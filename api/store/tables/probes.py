"""Probes: how exploitable a version or a mixture is at least, and the trials of the responders that say so."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import ProbeStatus
from api.store.tables.base import Base, Count, CreatedAt, EntityId, EnumText, Json, Ref, in_commit, not_negative, one_of


class Probe(Base):
    """Fresh responders against one version, or against the mixture of a trial's snapshots."""

    __tablename__ = "probes"
    __table_args__ = (
        in_commit(),
        one_of("status", ProbeStatus),
        CheckConstraint("(status IN ('stopped', 'completed', 'failed')) = (finished_at IS NOT NULL)", name="finished"),
        CheckConstraint("(status = 'completed') = (win_rate IS NOT NULL)", name="measured"),
        Index(None, "trial_id", "id"),
        Index(None, "version_id", "id"),
        Index("ix_probes_unstarted", "id", postgresql_where=text("workflow_started_at IS NULL")),
    )

    id: Mapped[EntityId]
    project_id: Mapped[Ref] = mapped_column(ForeignKey("projects.id"))
    trial_id: Mapped[Ref] = mapped_column(ForeignKey("trials.id"))
    """The trial of the target."""
    version_id: Mapped[Ref | None] = mapped_column(ForeignKey("model_versions.id"))
    """The target; None for a mixture."""
    commit: Mapped[int]
    """The trial's newest commit when the target was fixed."""
    target: Mapped[Json]
    """The versions that responders train against, each with its name and its weight."""
    spec: Mapped[Json]
    status: Mapped[ProbeStatus] = mapped_column(EnumText(ProbeStatus), server_default="pending")
    status_reason: Mapped[str | None]
    tournament_id: Mapped[Ref | None] = mapped_column(ForeignKey("tournaments.id"))
    """The fresh games."""
    results: Mapped[Json] = mapped_column(server_default=text("'{}'::jsonb"))
    """What each responder reached."""
    win_rate: Mapped[float | None]
    """Of the responder whose interval begins highest."""
    low: Mapped[float | None]
    high: Mapped[float | None]
    created_at: Mapped[CreatedAt]
    workflow_started_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class ProbeTrial(Base):
    """The trial in which one responder of a probe trains."""

    __tablename__ = "probe_trials"
    __table_args__ = (UniqueConstraint("trial_id"), not_negative("number"))

    probe_id: Mapped[Ref] = mapped_column(ForeignKey("probes.id"), primary_key=True)
    number: Mapped[Count] = mapped_column(primary_key=True, autoincrement=False)
    trial_id: Mapped[Ref] = mapped_column(ForeignKey("trials.id"))
    created_at: Mapped[CreatedAt]
