"""Players and their immutable model versions."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import PlayerStatus, VersionOrigin
from api.store.tables.base import (
    Base,
    Count,
    CreatedAt,
    EntityId,
    EnumText,
    Json,
    Ref,
    in_commit,
    not_blank,
    not_negative,
    one_of,
    same_trial,
)
from league.types import Role


class Player(Base):
    """A named member of a trial's league."""

    __tablename__ = "players"
    __table_args__ = (
        UniqueConstraint("trial_id", "name"),
        UniqueConstraint("trial_id", "id"),
        same_trial("parent_id", "players"),
        in_commit("created_commit"),
        one_of("role", Role),
        one_of("status", PlayerStatus),
        CheckConstraint("(role = 'bot') = (bot IS NOT NULL)", name="bot"),
        CheckConstraint("parent_id IS NULL OR role = 'historical'", name="parent"),
        CheckConstraint("NOT rating_only OR role = 'bot'", name="rating_only"),
        CheckConstraint("parent_id <> id", name="own_parent"),
        CheckConstraint("population IS NULL OR role NOT IN ('historical', 'bot')", name="population"),
        CheckConstraint("(status = 'retired') = (retired_at IS NOT NULL)", name="retired"),
        CheckConstraint("steps_at_snapshot <= steps", name="snapshot_steps"),
        CheckConstraint("generation = 0 OR role NOT IN ('historical', 'bot')", name="learns"),
        not_negative("generation", "steps", "steps_at_snapshot"),
        not_blank("name"),
        Index("ix_players_name_prefix", "name", postgresql_ops={"name": "text_pattern_ops"}),
        Index(None, "parent_id"),
    )

    id: Mapped[EntityId]
    trial_id: Mapped[Ref] = mapped_column(ForeignKey("trials.id"))
    name: Mapped[str]
    role: Mapped[Role] = mapped_column(EnumText(Role))
    status: Mapped[PlayerStatus] = mapped_column(EnumText(PlayerStatus), server_default="active")
    bot: Mapped[str | None]
    """The catalog's name of the scripted player."""
    rating_only: Mapped[bool] = mapped_column(server_default=text("false"))
    """A bot that is only measured against: matchmaking never chooses it."""
    parent_id: Mapped[Ref | None]
    """The player a historical one is a snapshot of."""
    population: Mapped[str | None]
    """The population that a learning player is a member of, by its name in the trial file."""
    forked_from_player_id: Mapped[Ref | None] = mapped_column(ForeignKey("players.id"))
    hyperparameters: Mapped[Json] = mapped_column(server_default=text("'{}'::jsonb"))
    algorithm: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    """The player's own algorithm with all its options; None: the trial's. A snapshot has that of its parent."""
    model: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    """The player's own model with all its options; None: the trial's."""
    revision: Mapped[int] = mapped_column(server_default="1")
    created_commit: Mapped[int]
    generation: Mapped[Count] = mapped_column(server_default="0")
    """The newest recorded generation."""
    steps: Mapped[int] = mapped_column(server_default="0")
    steps_at_snapshot: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[CreatedAt]
    retired_at: Mapped[datetime | None]


class ModelVersion(Base):
    """One immutable checkpoint of a player. The player's present one has the highest number."""

    __tablename__ = "model_versions"
    __table_args__ = (
        UniqueConstraint("player_id", "number"),
        UniqueConstraint("trial_id", "id"),
        UniqueConstraint("player_id", "id"),
        same_trial("player_id", "players"),
        in_commit(),
        one_of("origin", VersionOrigin),
        CheckConstraint("(origin IN ('initial', 'imported', 'bot')) = (parent_id IS NULL)", name="parent"),
        CheckConstraint("parent_id <> id", name="own_parent"),
        CheckConstraint("num_nonnulls(uri, sha256, size) IN (0, 3)", name="checkpoint_complete"),
        CheckConstraint("(origin = 'bot') = (uri IS NULL)", name="checkpoint"),
        CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
        CheckConstraint("size > 0", name="size"),
        not_negative("number", "steps"),
        Index(None, "trial_id", "commit"),
        Index(None, "parent_id"),
        Index(None, "sha256"),
    )

    id: Mapped[EntityId]
    trial_id: Mapped[Ref]
    player_id: Mapped[Ref]
    number: Mapped[Count]
    origin: Mapped[VersionOrigin] = mapped_column(EnumText(VersionOrigin))
    parent_id: Mapped[Ref | None] = mapped_column(ForeignKey("model_versions.id"))
    """The version whose weights this one started from; of another trial after a fork."""
    steps: Mapped[int]
    uri: Mapped[str | None]
    sha256: Mapped[str | None]
    size: Mapped[int | None]
    commit: Mapped[int]
    created_at: Mapped[CreatedAt]
