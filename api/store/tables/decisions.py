"""Decisions: the append-only record of why the league did what it did."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from api.store.tables.base import (
    Base,
    Count,
    CreatedAt,
    EnumText,
    Json,
    Ref,
    RowId,
    in_commit,
    not_blank,
    one_of,
    same_trial,
)
from league.types import DecisionKind


class Decision(Base):
    """One verdict, its reason in one sentence, and its evidence."""

    __tablename__ = "decisions"
    __table_args__ = (
        same_trial("player_id", "players"),
        same_trial("version_id", "model_versions"),
        in_commit(),
        one_of("kind", DecisionKind),
        not_blank("verdict"),
        not_blank("reason"),
        CheckConstraint("generation >= 0", name="generation"),
        CheckConstraint("attempt >= 1", name="attempt"),
        CheckConstraint(
            "kind NOT IN ('matchmaking', 'snapshot', 'reset', 'population') OR num_nonnulls(player_id, generation) = 2",
            name="of_generation",
        ),
        CheckConstraint("kind <> 'rollback' OR version_id IS NOT NULL", name="rollback_names_version"),
        # a redelivered activity finds its decision
        Index(
            "uq_decisions_generation",
            "player_id",
            "generation",
            "kind",
            "attempt",
            unique=True,
            postgresql_where=text("kind IN ('matchmaking', 'snapshot', 'reset', 'population')"),
        ),
        Index(
            "uq_decisions_rollback",
            "player_id",
            "version_id",
            unique=True,
            postgresql_where=text("kind = 'rollback'"),
        ),
        Index("uq_decisions_gate_id", "gate_id", unique=True, postgresql_where=text("gate_id IS NOT NULL")),
        Index(None, "trial_id", "id"),
        Index(None, "trial_id", "kind", "id"),
        Index(None, "version_id"),
    )

    id: Mapped[RowId]
    trial_id: Mapped[Ref] = mapped_column(ForeignKey("trials.id"))
    player_id: Mapped[Ref | None]
    generation: Mapped[Count | None]
    attempt: Mapped[Count] = mapped_column(server_default="1")
    """Above 1 when a plan was made again, as after a damaged checkpoint."""
    kind: Mapped[DecisionKind] = mapped_column(EnumText(DecisionKind))
    verdict: Mapped[str]
    reason: Mapped[str]
    evidence: Mapped[Json] = mapped_column(server_default=text("'{}'::jsonb"))
    version_id: Mapped[Ref | None]
    """The version judged: the snapshot, the candidate, the damaged one."""
    gate_id: Mapped[Ref | None] = mapped_column(ForeignKey("gates.id"))
    commit: Mapped[int | None]
    created_at: Mapped[CreatedAt]
