"""Schedules of tournaments. Temporal fires them; these rows define them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import Overlap
from api.store.tables.base import Base, Count, CreatedAt, EntityId, EnumText, Json, Ref, not_blank, one_of


class Schedule(Base):
    """A repeated tournament, by cron expression or interval."""

    __tablename__ = "schedules"
    __table_args__ = (
        one_of("overlap", Overlap),
        CheckConstraint("num_nonnulls(cron, every_seconds) = 1", name="cron_or_interval"),
        CheckConstraint("every_seconds > 0", name="interval"),
        CheckConstraint("catchup_window_seconds >= 0", name="catchup_window"),
        CheckConstraint("revision >= 1", name="revision"),
        not_blank("name"),
        not_blank("time_zone"),
        # the name of a deleted schedule is free again
        Index("uq_schedules_name", "project_id", "name", unique=True, postgresql_where=text("deleted_at IS NULL")),
        Index(None, "trial_id"),
    )

    id: Mapped[EntityId]
    project_id: Mapped[Ref] = mapped_column(ForeignKey("projects.id"))
    trial_id: Mapped[Ref | None] = mapped_column(ForeignKey("trials.id"))
    name: Mapped[str]
    cron: Mapped[str | None]
    every_seconds: Mapped[Count | None]
    time_zone: Mapped[str] = mapped_column(server_default="UTC")
    overlap: Mapped[Overlap] = mapped_column(EnumText(Overlap), server_default="skip")
    catchup_window_seconds: Mapped[Count] = mapped_column(server_default="3600")
    paused: Mapped[bool] = mapped_column(server_default=text("false"))
    pause_note: Mapped[str | None]
    tournament: Mapped[Json]
    """The tournament file to run each time."""
    last_error: Mapped[str | None]
    revision: Mapped[int] = mapped_column(server_default="1")
    created_at: Mapped[CreatedAt]
    workflow_started_at: Mapped[datetime | None]
    """When the row was synced to Temporal; None until then, for reconciliation."""
    deleted_at: Mapped[datetime | None]
