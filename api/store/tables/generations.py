"""The records of a generation: its outcome, tallies and metrics. All append-only."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint, Uuid, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from api.store.tables.base import (
    Base,
    Count,
    CreatedAt,
    EnumText,
    Json,
    Ref,
    RowId,
    Small,
    in_commit,
    not_blank,
    not_negative,
    one_of,
    returns_of_both,
    same_trial,
)
from league.types import Stream


class Generation(Base):
    """The recorded outcome of a player's generation; the primary key makes it exactly one."""

    __tablename__ = "generations"
    __table_args__ = (
        UniqueConstraint("trial_id", "commit"),
        UniqueConstraint("version_id"),
        same_trial("player_id", "players"),
        ForeignKeyConstraint(["player_id", "parent_version_id"], ["model_versions.player_id", "model_versions.id"]),
        ForeignKeyConstraint(["player_id", "version_id"], ["model_versions.player_id", "model_versions.id"]),
        in_commit(),
        CheckConstraint("number >= 1", name="number"),
        CheckConstraint("steps > 0", name="steps"),
        CheckConstraint("attempt >= 1", name="attempt"),
        CheckConstraint("started_at <= finished_at", name="times"),
        not_negative("games"),
    )

    player_id: Mapped[Ref] = mapped_column(primary_key=True)
    number: Mapped[Count] = mapped_column(primary_key=True, autoincrement=False)
    trial_id: Mapped[Ref]
    commit: Mapped[int]
    parent_version_id: Mapped[Ref]
    version_id: Mapped[Ref]
    plan_decision_id: Mapped[int | None] = mapped_column(ForeignKey("decisions.id"))
    """The matchmaking decision whose plan was played."""
    steps: Mapped[int]
    games: Mapped[int]
    seed: Mapped[int]
    attempt: Mapped[Count] = mapped_column(server_default="1")
    """Which attempt won the race to be recorded."""
    hyperparameters: Mapped[Json] = mapped_column(server_default=text("'{}'::jsonb"))
    matchmaker_state: Mapped[Json | None]
    """The matchmaker's state after this generation; a fork reads it as of its commit."""
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime]
    recorded_at: Mapped[CreatedAt]


class Tally(Base):
    """Results of one version against another in one seat, as of one commit. Training games are stored only here."""

    __tablename__ = "tallies"
    __table_args__ = (
        same_trial("learner_version_id", "model_versions"),
        same_trial("opponent_version_id", "model_versions"),
        in_commit(),
        one_of("stream", Stream),
        CheckConstraint("learner_version_id <> opponent_version_id", name="opponents_differ"),
        CheckConstraint("seat >= 0 AND opponent_seat >= 0 AND seat <> opponent_seat", name="seats"),
        CheckConstraint("wins + draws + losses > 0", name="played"),
        not_negative("wins", "draws", "losses"),
        returns_of_both(),
        Index(None, "learner_version_id"),
        Index(None, "opponent_version_id"),
    )

    trial_id: Mapped[Ref] = mapped_column(primary_key=True)
    commit: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    learner_version_id: Mapped[Ref] = mapped_column(primary_key=True)
    opponent_version_id: Mapped[Ref] = mapped_column(primary_key=True)
    seat: Mapped[Small] = mapped_column(primary_key=True, autoincrement=False)
    opponent_seat: Mapped[Small] = mapped_column(primary_key=True, autoincrement=False)
    stream: Mapped[Stream] = mapped_column(EnumText(Stream), primary_key=True)
    wins: Mapped[int]
    draws: Mapped[int]
    losses: Mapped[int]
    returns: Mapped[float | None]
    """The learner's sum of returns in these games; None if it was not counted."""
    opponent_returns: Mapped[float | None]


class ReturnTally(Base):
    """Returns of a version in a game of one seat, which has no opponent."""

    __tablename__ = "return_tallies"
    __table_args__ = (
        same_trial("version_id", "model_versions"),
        in_commit(),
        one_of("stream", Stream),
        CheckConstraint("games > 0", name="played"),
        CheckConstraint("deviations >= 0", name="deviations"),
        Index(None, "version_id"),
    )

    trial_id: Mapped[Ref] = mapped_column(primary_key=True)
    commit: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    version_id: Mapped[Ref] = mapped_column(primary_key=True)
    stream: Mapped[Stream] = mapped_column(EnumText(Stream), primary_key=True)
    games: Mapped[int]
    mean: Mapped[float]
    deviations: Mapped[float]
    """The sum of squared deviations from the mean."""


class LineupTally(Base):
    """Training results of a mixed line-up: a team that the learner shared with a mate. They are in no payoff."""

    __tablename__ = "lineup_tallies"
    __table_args__ = (
        same_trial("version_id", "model_versions"),
        same_trial("opponent_version_id", "model_versions"),
        in_commit(),
        CheckConstraint("seat >= 0 AND seat IS DISTINCT FROM opponent_seat", name="seats"),
        CheckConstraint("(opponent_version_id IS NULL) = (opponent_seat IS NULL)", name="opponent"),
        CheckConstraint("games > 0 AND (opponent_seat IS NULL OR wins + draws + losses = games)", name="played"),
        not_negative("wins", "draws", "losses"),
        Index(None, "trial_id", "commit"),
        Index(None, "version_id"),
        Index(None, "opponent_version_id"),
    )

    id: Mapped[RowId]
    trial_id: Mapped[Ref]
    commit: Mapped[int]
    version_id: Mapped[Ref]
    """The learner's version."""
    lineup: Mapped[list[str]] = mapped_column(ARRAY(Uuid(as_uuid=False)))
    """The version in each seat of the team, in the order of the seats."""
    opponent_version_id: Mapped[Ref | None]
    """The version in all other teams; the learner's own in self-play; None in a game of one team."""
    seat: Mapped[Small]
    """The number of the line-up's team."""
    opponent_seat: Mapped[Small | None]
    games: Mapped[int]
    wins: Mapped[int]
    draws: Mapped[int]
    losses: Mapped[int]
    returns: Mapped[float | None]
    """The line-up's sum of returns in these games."""
    opponent_returns: Mapped[float | None]


class Metric(Base):
    """One number a generation reported, by name."""

    __tablename__ = "metrics"
    __table_args__ = (
        ForeignKeyConstraint(["player_id", "generation"], ["generations.player_id", "generations.number"]),
        same_trial("player_id", "players"),
        CheckConstraint("steps >= 0", name="steps"),
        not_blank("name"),
        Index(None, "trial_id", "name", "player_id", "generation"),
    )

    player_id: Mapped[Ref] = mapped_column(primary_key=True)
    generation: Mapped[Count] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(primary_key=True)
    trial_id: Mapped[Ref]
    steps: Mapped[int]
    """The player's steps after the generation: the x of a curve."""
    value: Mapped[float]
    """May be NaN or infinite: a diverged loss is worth seeing."""
