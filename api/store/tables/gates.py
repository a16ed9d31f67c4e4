"""Promotion gates and the path of their sequential test."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import GateStatus
from api.store.tables.base import (
    Base,
    Count,
    CreatedAt,
    EntityId,
    EnumText,
    Json,
    Ref,
    not_blank,
    not_negative,
    one_of,
    same_trial,
)

_FINISHED = "status NOT IN ('waiting', 'running')"
# One count for each score of a pair of games: 0, 1/4, 1/2, 3/4, 1.
_FIVE_COUNTS = "cardinality(pentanomial) = 5 AND 0 <= ALL (pentanomial)"


class Gate(Base):
    """A candidate against the holder of an alias, by sequential test on gating games."""

    __tablename__ = "gates"
    __table_args__ = (
        UniqueConstraint("trial_id", "id"),
        same_trial("candidate_version_id", "model_versions"),
        one_of("status", GateStatus),
        not_blank("alias"),
        not_blank("game"),
        CheckConstraint("candidate_version_id <> champion_version_id", name="contenders_differ"),
        CheckConstraint(
            "champion_version_id IS NOT NULL OR status IN ('waiting', 'passed', 'invalid', 'superseded')",
            name="unopposed_plays_nothing",
        ),
        CheckConstraint("elo0 < elo1", name="hypotheses"),
        CheckConstraint("alpha > 0 AND beta > 0 AND alpha + beta < 1", name="errors"),
        CheckConstraint("lower_bound < 0 AND upper_bound > 0", name="bounds"),
        CheckConstraint("max_pairs > 0", name="max_pairs"),
        CheckConstraint(f"({_FINISHED}) = (finished_at IS NOT NULL)", name="finished"),
        CheckConstraint(_FIVE_COUNTS, name="pentanomial"),
        not_negative("pairs"),
        # one gate per alias at a time, and one candidate waiting
        Index(
            "uq_gates_running",
            "project_id",
            "game",
            "alias",
            unique=True,
            postgresql_where=text("status = 'running'"),
        ),
        Index(
            "uq_gates_waiting",
            "project_id",
            "game",
            "alias",
            unique=True,
            postgresql_where=text("status = 'waiting'"),
        ),
        # a candidate is judged once for an alias, unless its first gate was stopped as invalid
        Index(
            "uq_gates_candidate",
            "project_id",
            "game",
            "alias",
            "candidate_version_id",
            unique=True,
            postgresql_where=text("status <> 'invalid'"),
        ),
        Index(None, "trial_id", "id"),
        Index(None, "champion_version_id"),
        CheckConstraint("opened_after_id <> id", name="opened_after_another"),
        Index(None, "opened_after_id"),
    )

    id: Mapped[EntityId]
    project_id: Mapped[Ref] = mapped_column(ForeignKey("projects.id"))
    trial_id: Mapped[Ref] = mapped_column(ForeignKey("trials.id"))
    game: Mapped[str]
    alias: Mapped[str]
    candidate_version_id: Mapped[Ref]
    champion_version_id: Mapped[Ref | None] = mapped_column(ForeignKey("model_versions.id"))
    """None where the alias had no holder: the first champion is unopposed."""
    opened_after_id: Mapped[Ref | None] = mapped_column(ForeignKey("gates.id"))
    """The gate whose end opened this one; None where a new candidate opened it, or where it still waits."""
    status: Mapped[GateStatus] = mapped_column(EnumText(GateStatus), server_default="waiting")
    status_reason: Mapped[str | None]
    elo0: Mapped[float]
    elo1: Mapped[float]
    alpha: Mapped[float]
    """The part of the champion's error budget that this candidate may spend."""
    beta: Mapped[float]
    lower_bound: Mapped[float]
    upper_bound: Mapped[float]
    max_pairs: Mapped[Count]
    seed: Mapped[int]
    settings: Mapped[Json] = mapped_column(server_default=text("'{}'::jsonb"))
    pairs: Mapped[Count] = mapped_column(server_default="0")
    pentanomial: Mapped[list[int]] = mapped_column(ARRAY(BigInteger), server_default=text("'{0,0,0,0,0}'::bigint[]"))
    llr: Mapped[float] = mapped_column(server_default="0")
    created_at: Mapped[CreatedAt]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]

    @property
    def model(self) -> str:
        """The model of elo0 and elo1; gates from before it was stored use logistic Elo."""
        return str(self.settings.get("model", "logistic"))


class GateBatch(Base):
    """One batch of a gate's games and the test's state after it: a point of the LLR path. Append-only."""

    __tablename__ = "gate_batches"
    __table_args__ = (
        CheckConstraint("number >= 1", name="number"),
        CheckConstraint("pairs > 0", name="pairs"),
        CheckConstraint(_FIVE_COUNTS, name="pentanomial"),
    )

    gate_id: Mapped[Ref] = mapped_column(ForeignKey("gates.id"), primary_key=True)
    number: Mapped[Count] = mapped_column(primary_key=True, autoincrement=False)
    pairs: Mapped[Count]
    """The pairs of this batch alone."""
    pentanomial: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    """The counts of all batches so far."""
    llr: Mapped[float]
    created_at: Mapped[CreatedAt]
