"""Aliases: movable names of model versions, the append-only history of their moves, and results of canaries."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint, func, text
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import AliasMove, CanaryStatus
from api.store.tables.base import Base, CreatedAt, EnumText, Json, Ref, RowId, not_blank, not_negative, one_of


class Alias(Base):
    """A name of one project and game (`champion`) for one of its versions. It moves under this row's lock."""

    __tablename__ = "aliases"
    __table_args__ = (
        not_blank("name"),
        not_blank("game"),
        CheckConstraint("revision >= 1", name="revision"),
        Index(None, "version_id"),
    )

    project_id: Mapped[Ref] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    game: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    version_id: Mapped[Ref] = mapped_column(ForeignKey("model_versions.id"))
    revision: Mapped[int] = mapped_column(server_default="1")
    """Number of moves; the ETag."""
    moved_at: Mapped[datetime] = mapped_column(server_default=func.now())


class AliasEvent(Base):
    """One move of an alias: from where, to where, by whom, why and on what evidence."""

    __tablename__ = "alias_events"
    __table_args__ = (
        ForeignKeyConstraint(["project_id", "game", "name"], ["aliases.project_id", "aliases.game", "aliases.name"]),
        UniqueConstraint("project_id", "game", "name", "revision"),
        one_of("move", AliasMove),
        CheckConstraint("revision >= 1", name="revision"),
        CheckConstraint("(revision = 1) = (from_version_id IS NULL)", name="first_move"),
        CheckConstraint("from_version_id <> to_version_id", name="moves"),
        not_blank("reason"),
        Index(None, "to_version_id"),
        # a gate moves its alias at most once, however often its result is delivered
        Index("uq_alias_events_gate_id", "gate_id", unique=True, postgresql_where=text("gate_id IS NOT NULL")),
    )

    id: Mapped[RowId]
    project_id: Mapped[Ref]
    game: Mapped[str]
    name: Mapped[str]
    revision: Mapped[int]
    """The alias's revision after this move."""
    move: Mapped[AliasMove] = mapped_column(EnumText(AliasMove))
    from_version_id: Mapped[Ref | None] = mapped_column(ForeignKey("model_versions.id"))
    to_version_id: Mapped[Ref] = mapped_column(ForeignKey("model_versions.id"))
    reason: Mapped[str]
    actor: Mapped[str]
    gate_id: Mapped[Ref | None] = mapped_column(ForeignKey("gates.id"))
    tournament_id: Mapped[Ref | None] = mapped_column(ForeignKey("tournaments.id"))
    evidence: Mapped[Json] = mapped_column(server_default=text("'{}'::jsonb"))
    created_at: Mapped[CreatedAt]


class CanaryResult(Base):
    """Results of a canary beside the holder of an alias that a serving process reported, and the test after them."""

    __tablename__ = "canary_results"
    __table_args__ = (
        ForeignKeyConstraint(["project_id", "game", "alias"], ["aliases.project_id", "aliases.game", "aliases.name"]),
        # a report is recorded once, however often it is delivered
        UniqueConstraint("report_id"),
        one_of("status", CanaryStatus),
        CheckConstraint("champion_version_id <> canary_version_id", name="versions_differ"),
        CheckConstraint("champion_sessions + canary_sessions > 0", name="sessions"),
        not_negative("losses", "draws", "wins", "champion_sessions", "canary_sessions"),
        Index(
            "ix_canary_results_pair", "project_id", "game", "alias", "canary_version_id", "champion_version_id", "id"
        ),
    )

    id: Mapped[RowId]
    report_id: Mapped[Ref]
    project_id: Mapped[Ref]
    game: Mapped[str]
    alias: Mapped[str]
    champion_version_id: Mapped[Ref] = mapped_column(ForeignKey("model_versions.id"))
    canary_version_id: Mapped[Ref] = mapped_column(ForeignKey("model_versions.id"))
    losses: Mapped[int]
    """Compared sessions in which the canary's return was lower."""
    draws: Mapped[int]
    wins: Mapped[int]
    champion_sessions: Mapped[int]
    champion_returns: Mapped[float]
    """The sum of its sessions' returns."""
    canary_sessions: Mapped[int]
    canary_returns: Mapped[float]
    llr: Mapped[float]
    """The log-likelihood ratio after all reports so far; it stays once a bound is reached."""
    status: Mapped[CanaryStatus] = mapped_column(EnumText(CanaryStatus))
    actor: Mapped[str]
    created_at: Mapped[CreatedAt]
