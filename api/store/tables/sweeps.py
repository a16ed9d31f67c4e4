"""Sweeps: their trials, the trials' values at rungs, and what was decided from them. Only a sweep's status changes."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import SweepStatus, SweepVerdict
from api.store.tables.base import (
    Base,
    Count,
    CreatedAt,
    EntityId,
    EnumText,
    Json,
    Ref,
    RowId,
    in_commit,
    not_blank,
    not_negative,
    one_of,
)


class Sweep(Base):
    """A search over the fields of a trial file."""

    __tablename__ = "sweeps"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        one_of("status", SweepStatus),
        CheckConstraint("(status IN ('stopped', 'completed', 'failed')) = (finished_at IS NOT NULL)", name="finished"),
        not_blank("name"),
        Index(None, "project_id", "id"),
        Index("ix_sweeps_unstarted", "id", postgresql_where=text("workflow_started_at IS NULL")),
    )

    id: Mapped[EntityId]
    project_id: Mapped[Ref] = mapped_column(ForeignKey("projects.id"))
    name: Mapped[str]
    spec: Mapped[Json]
    status: Mapped[SweepStatus] = mapped_column(EnumText(SweepStatus), server_default="pending")
    status_reason: Mapped[str | None]
    best_trial_id: Mapped[Ref | None] = mapped_column(ForeignKey("trials.id", use_alter=True))
    """The trial with the best value, once the sweep has ended."""
    created_at: Mapped[CreatedAt]
    workflow_started_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class SweepTrial(Base):
    """A trial of a sweep: its number, its bracket, and its point of the space."""

    __tablename__ = "sweep_trials"
    __table_args__ = (
        UniqueConstraint("trial_id"),
        not_negative("number", "bracket", "first_rung"),
    )

    sweep_id: Mapped[Ref] = mapped_column(ForeignKey("sweeps.id"), primary_key=True)
    number: Mapped[Count] = mapped_column(primary_key=True, autoincrement=False)
    trial_id: Mapped[Ref] = mapped_column(ForeignKey("trials.id"))
    bracket: Mapped[Count]
    first_rung: Mapped[Count]
    """The rung at which it is compared first."""
    point: Mapped[Json]
    """Paths into the trial file, and their values."""
    created_at: Mapped[CreatedAt]


class SweepValue(Base):
    """A trial's value at a rung, recorded once. Ids give the order in which a sweep's values arrived."""

    __tablename__ = "sweep_values"
    __table_args__ = (
        UniqueConstraint("sweep_id", "number", "rung"),
        ForeignKeyConstraint(["sweep_id", "number"], ["sweep_trials.sweep_id", "sweep_trials.number"]),
        in_commit(),
        not_negative("rung", "steps"),
    )

    id: Mapped[RowId]
    sweep_id: Mapped[Ref]
    number: Mapped[Count]
    rung: Mapped[Count]
    trial_id: Mapped[Ref]
    commit: Mapped[int]
    """The trial's newest commit when the value was taken: what came later does not count in it."""
    steps: Mapped[int]
    value: Mapped[float | None]
    """More is better; None: there was none, which counts as the worst."""
    source: Mapped[Json]
    """The rows that the value was computed from."""
    created_at: Mapped[CreatedAt]


class SweepDecision(Base):
    """Whether a trial goes on beyond a rung, with the values that it was decided from."""

    __tablename__ = "sweep_decisions"
    __table_args__ = (
        ForeignKeyConstraint(
            ["sweep_id", "number", "rung"], ["sweep_values.sweep_id", "sweep_values.number", "sweep_values.rung"]
        ),
        one_of("verdict", SweepVerdict),
    )

    sweep_id: Mapped[Ref] = mapped_column(primary_key=True)
    number: Mapped[Count] = mapped_column(primary_key=True, autoincrement=False)
    rung: Mapped[Count] = mapped_column(primary_key=True, autoincrement=False)
    verdict: Mapped[SweepVerdict] = mapped_column(EnumText(SweepVerdict))
    reason: Mapped[str]
    evidence: Mapped[Json] = mapped_column(server_default=text("'{}'::jsonb"))
    created_at: Mapped[CreatedAt]
