"""Tournaments, their entrants, and their pairings: each is one batch of games, recorded together."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import PairingStatus, TournamentFormat, TournamentPurpose, TournamentStatus
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


class Tournament(Base):
    """An evaluation of versions of one project and game against each other."""

    __tablename__ = "tournaments"
    __table_args__ = (
        UniqueConstraint("occasion"),
        same_trial("player_id", "players"),
        one_of("format", TournamentFormat),
        one_of("purpose", TournamentPurpose),
        CheckConstraint("generation >= 0", name="generation"),
        CheckConstraint(
            "CASE WHEN purpose IN ('field_evaluation', 'target_evaluation') "
            "THEN num_nonnulls(trial_id, player_id, generation) = 3 "
            "ELSE num_nonnulls(player_id, generation) = 0 END",
            name="evaluates",
        ),
        one_of("status", TournamentStatus),
        CheckConstraint(
            "(status IN ('completed', 'cancelled', 'failed')) = (finished_at IS NOT NULL)", name="finished"
        ),
        not_blank("game"),
        not_blank("name"),
        # a generation is evaluated once in each way
        Index(
            "uq_tournaments_evaluation",
            "player_id",
            "generation",
            "purpose",
            unique=True,
            postgresql_where=text("player_id IS NOT NULL"),
        ),
        Index("ix_tournaments_name_prefix", "name", postgresql_ops={"name": "text_pattern_ops"}),
        Index(None, "project_id", "game", "id"),
        Index(None, "trial_id", "id"),
        Index(None, "schedule_id", "id"),
        Index(None, "status", "id"),
        Index("ix_tournaments_unstarted", "id", postgresql_where=text("workflow_started_at IS NULL")),
    )

    id: Mapped[EntityId]
    project_id: Mapped[Ref] = mapped_column(ForeignKey("projects.id"))
    trial_id: Mapped[Ref | None] = mapped_column(ForeignKey("trials.id"))
    schedule_id: Mapped[Ref | None] = mapped_column(ForeignKey("schedules.id"))
    occasion: Mapped[str | None]
    """The id of the workflow of one firing of a schedule; unique, so that a firing creates one tournament."""
    purpose: Mapped[TournamentPurpose] = mapped_column(EnumText(TournamentPurpose), server_default="request")
    player_id: Mapped[Ref | None]
    """The player that an evaluation measures."""
    generation: Mapped[Count | None]
    """The player's generation that an evaluation measures."""
    game: Mapped[str]
    name: Mapped[str]
    format: Mapped[TournamentFormat] = mapped_column(EnumText(TournamentFormat))
    status: Mapped[TournamentStatus] = mapped_column(EnumText(TournamentStatus), server_default="pending")
    status_reason: Mapped[str | None]
    seed: Mapped[int]
    spec: Mapped[Json]
    created_at: Mapped[CreatedAt]
    workflow_started_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class TournamentEntrant(Base):
    """A version that takes part, by its number in the field."""

    __tablename__ = "tournament_entrants"
    __table_args__ = (
        UniqueConstraint("tournament_id", "version_id"),
        not_negative("number"),
        not_blank("label"),
        Index(None, "version_id"),
    )

    tournament_id: Mapped[Ref] = mapped_column(ForeignKey("tournaments.id"), primary_key=True)
    number: Mapped[Count] = mapped_column(primary_key=True, autoincrement=False)
    version_id: Mapped[Ref] = mapped_column(ForeignKey("model_versions.id"))
    label: Mapped[str]
    withdrawn: Mapped[str | None]
    """Why it was withdrawn; None while it takes part."""


class Pairing(Base):
    """Two entrants in one round, or one with a bye. Its games are played as one batch and recorded together."""

    __tablename__ = "pairings"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tournament_id", "first"], ["tournament_entrants.tournament_id", "tournament_entrants.number"]
        ),
        ForeignKeyConstraint(
            ["tournament_id", "second"], ["tournament_entrants.tournament_id", "tournament_entrants.number"]
        ),
        in_commit(),
        one_of("status", PairingStatus),
        CheckConstraint("round >= 0 AND pair >= 0", name="key"),
        CheckConstraint("first <> second", name="entrants_differ"),
        CheckConstraint("(trial_id IS NULL) = (commit IS NULL)", name="commit_of_trial"),
        CheckConstraint("(status = 'played') = (played_at IS NOT NULL)", name="played"),
        CheckConstraint(
            "CASE WHEN status = 'played' THEN wins + draws + losses <= games ELSE wins + draws + losses = 0 END",
            name="results",
        ),
        CheckConstraint("(second IS NOT NULL) = (games > 0)", name="bye_plays_nothing"),
        CheckConstraint(
            "walkover IS NULL OR status = 'cancelled' AND (walkover = first OR walkover = second)", name="walkover"
        ),
        not_negative("games", "wins", "draws", "losses"),
    )

    tournament_id: Mapped[Ref] = mapped_column(ForeignKey("tournaments.id"), primary_key=True)
    round: Mapped[Count] = mapped_column(primary_key=True, autoincrement=False)
    pair: Mapped[Count] = mapped_column(primary_key=True, autoincrement=False)
    first: Mapped[Count]
    second: Mapped[Count | None]
    """None for a bye."""
    games: Mapped[Count]
    seed: Mapped[int]
    status: Mapped[PairingStatus] = mapped_column(EnumText(PairingStatus), server_default="planned")
    wins: Mapped[Count] = mapped_column(server_default="0")
    """From the first entrant's view."""
    draws: Mapped[Count] = mapped_column(server_default="0")
    losses: Mapped[Count] = mapped_column(server_default="0")
    walkover: Mapped[Count | None]
    """The entrant that wins without playing because the other side was withdrawn."""
    trial_id: Mapped[Ref | None]
    commit: Mapped[int | None]
    """The commit by which the games entered the trial's payoff, where both entrants are of that trial."""
    created_at: Mapped[CreatedAt]
    played_at: Mapped[datetime | None]
