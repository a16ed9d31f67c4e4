"""Projects, the trials in them, and the numbered commits by which a trial's league changes."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import CommitKind, TrialKind, TrialStatus
from api.store.tables.base import Base, CreatedAt, EntityId, EnumText, Json, Ref, not_blank, not_negative, one_of


def _sharing() -> tuple[CheckConstraint, CheckConstraint]:
    return CheckConstraint("priority > 0", name="priority"), CheckConstraint("quota > 0", name="quota")


class Project(Base):
    """A namespace of trials and aliases."""

    __tablename__ = "projects"
    __table_args__ = (UniqueConstraint("name"), not_blank("name"), *_sharing())

    id: Mapped[EntityId]
    name: Mapped[str]
    priority: Mapped[float] = mapped_column(server_default=text("1"))
    """Its weight among projects where crews are scarce."""
    quota: Mapped[int | None]
    """The most generations of all its trials under way at once."""
    created_at: Mapped[CreatedAt]


class Trial(Base):
    """One league-training experiment."""

    __tablename__ = "trials"
    __table_args__ = (
        UniqueConstraint("project_id", "name"),
        ForeignKeyConstraint(
            ["forked_from_trial_id", "forked_at_commit"],
            ["commits.trial_id", "commits.number"],
            use_alter=True,  # trials and commits point at each other
        ),
        CheckConstraint("(forked_from_trial_id IS NULL) = (forked_at_commit IS NULL)", name="fork_complete"),
        CheckConstraint("forked_from_trial_id <> id", name="fork_of_another"),
        CheckConstraint("(status IN ('stopped', 'completed', 'failed')) = (finished_at IS NOT NULL)", name="finished"),
        one_of("status", TrialStatus),
        one_of("kind", TrialKind),
        not_negative("last_commit", "payoff_revision", "steps"),
        CheckConstraint("payoff_decay > 0 AND payoff_decay <= 1", name="payoff_decay"),
        not_blank("name"),
        not_blank("game"),
        *_sharing(),
        Index(None, "project_id", "id"),
        Index(None, "status", "id"),
        # one holder of the shared bots of a project's game
        Index(
            "uq_trials_project_bots",
            "project_id",
            "game",
            unique=True,
            postgresql_where=text("kind = 'project_bots'"),
        ),
        ForeignKeyConstraint(["sweep_id"], ["sweeps.id"], use_alter=True),
        Index(None, "sweep_id", "id", postgresql_where=text("sweep_id IS NOT NULL")),
        Index(None, "former_names", postgresql_using="gin"),
        # what reconciliation looks for after a crash between the row and the workflow
        Index("ix_trials_unstarted", "id", postgresql_where=text("workflow_started_at IS NULL")),
    )

    id: Mapped[EntityId]
    project_id: Mapped[Ref] = mapped_column(ForeignKey("projects.id"))
    name: Mapped[str]
    kind: Mapped[TrialKind] = mapped_column(EnumText(TrialKind), server_default="league")
    game: Mapped[str]
    seed: Mapped[int]
    spec: Mapped[Json]
    status: Mapped[TrialStatus] = mapped_column(EnumText(TrialStatus), server_default="pending")
    status_reason: Mapped[str | None]
    revision: Mapped[int] = mapped_column(server_default="1")
    """Number of changes that a person can make; the ETag."""
    last_commit: Mapped[int] = mapped_column(server_default="0")
    """The number of the newest commit; taken under this row's lock."""
    payoff_decay: Mapped[float]
    """The factor by which a game reduces the weight of earlier games; fixed, so that payoffs can be recomputed."""
    payoff_revision: Mapped[int] = mapped_column(server_default="0")
    """The commit that last changed the payoff."""
    steps: Mapped[int] = mapped_column(server_default="0")
    tags: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'::text[]"))
    notes: Mapped[str] = mapped_column(server_default=text("''"))
    former_names: Mapped[list[str]] = mapped_column(ARRAY(Text), server_default=text("'{}'::text[]"))
    """Names before renames, the first one first: they lead to this trial, and no other of the project gets them."""
    priority: Mapped[float] = mapped_column(server_default=text("1"))
    """Its weight among the trials of its project where crews are scarce."""
    quota: Mapped[int | None]
    """The most generations of it under way at once."""
    generation_cost: Mapped[float | None]
    """CPU seconds of one of its generations, a moving average."""
    sweep_id: Mapped[Ref | None]
    """The sweep that this trial belongs to, if any; its workflow starts the trial's."""
    forked_from_trial_id: Mapped[Ref | None]
    forked_at_commit: Mapped[int | None]
    created_at: Mapped[CreatedAt]
    workflow_started_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]


class Commit(Base):
    """One numbered change of a trial's league. Payoffs replay in this order; a fork is taken at one."""

    __tablename__ = "commits"
    __table_args__ = (
        one_of("kind", CommitKind),
        CheckConstraint("number >= 0 AND (number = 0) = (kind = 'created')", name="number"),
    )

    trial_id: Mapped[Ref] = mapped_column(ForeignKey("trials.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[CommitKind] = mapped_column(EnumText(CommitKind))
    created_at: Mapped[CreatedAt]
