"""Matches: gating and rating games, one row each, keyed so that a retry never duplicates one.

Append-only, but that the moves of an old one may be pruned: triggers allow this change and no other.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    ARRAY,
    CheckConstraint,
    FetchedValue,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import MatchResult
from api.store.tables.base import Base, Count, CreatedAt, EnumText, Json, Ref, RowId, Small, one_of
from league.types import Stream

_KEY = ("round", "pair", "seat", "seed")


class Match(Base):
    """One finished game between two versions."""

    __tablename__ = "matches"
    __table_args__ = (
        ForeignKeyConstraint(["player_id", "version_id"], ["model_versions.player_id", "model_versions.id"]),
        ForeignKeyConstraint(["opponent_id", "opponent_version_id"], ["model_versions.player_id", "model_versions.id"]),
        ForeignKeyConstraint(
            ["tournament_id", "round", "pair"], ["pairings.tournament_id", "pairings.round", "pairings.pair"]
        ),
        ForeignKeyConstraint(["gate_id", "round"], ["gate_batches.gate_id", "gate_batches.number"]),
        one_of("stream", Stream),
        one_of("result", MatchResult),
        CheckConstraint("num_nonnulls(tournament_id, gate_id) = 1", name="one_occasion"),
        CheckConstraint(
            "stream = CASE WHEN gate_id IS NULL THEN 'rating' ELSE 'gating' END", name="stream_of_occasion"
        ),
        CheckConstraint("version_id <> opponent_version_id", name="opponents_differ"),
        CheckConstraint("round >= 0 AND pair >= 0 AND seat >= 0", name="key"),
        CheckConstraint("(moves IS NULL) = (moves_pruned_at IS NOT NULL)", name="moves_or_pruned"),
        Index(
            "uq_matches_tournament_key",
            "tournament_id",
            *_KEY,
            unique=True,
            postgresql_where=text("tournament_id IS NOT NULL"),
        ),
        Index("uq_matches_gate_key", "gate_id", *_KEY, unique=True, postgresql_where=text("gate_id IS NOT NULL")),
        # lists are read newest first: of a trial, of a cell of the payoff, of a player or version on either side
        Index(None, "trial_id", "id"),
        Index(None, "trial_id", "stream", "id"),
        Index(None, "player_id", "opponent_id", "id"),
        Index(None, "player_id", "id"),
        Index(None, "opponent_id", "id"),
        Index(None, "version_id", "id"),
        Index(None, "opponent_version_id", "id"),
        # retention looks for old matches that still have their moves
        Index(
            "ix_matches_with_moves",
            "played_at",
            "id",
            postgresql_where=text("moves_pruned_at IS NULL AND plies > 0"),
        ),
    )

    id: Mapped[RowId]
    stream: Mapped[Stream] = mapped_column(EnumText(Stream))
    trial_id: Mapped[Ref | None] = mapped_column(ForeignKey("trials.id"))
    """None for a tournament of the whole project."""
    tournament_id: Mapped[Ref | None] = mapped_column(ForeignKey("tournaments.id"))
    gate_id: Mapped[Ref | None] = mapped_column(ForeignKey("gates.id"))
    round: Mapped[Count]
    """The tournament's round, or the gate's batch."""
    pair: Mapped[Count]
    """The pairing within the round, or the pair of games within the batch."""
    seat: Mapped[Small]
    """The seat of the first-named version."""
    seed: Mapped[int]
    player_id: Mapped[Ref]
    version_id: Mapped[Ref]
    opponent_id: Mapped[Ref]
    opponent_version_id: Mapped[Ref]
    result: Mapped[MatchResult] = mapped_column(EnumText(MatchResult))
    moves: Mapped[list[int] | None] = mapped_column(ARRAY(Integer), deferred=True)
    """Every action from the first position on, chance included, by the game's action numbers; None: pruned."""
    plies: Mapped[Count] = mapped_column(server_default=FetchedValue())
    """The number of moves, which stays when these are pruned: a trigger counts them when the match is recorded."""
    opening: Mapped[Json | None] = mapped_column(deferred=True)
    """The random opening moves, shared within a pair; None for the usual start."""
    played_at: Mapped[CreatedAt]
    moves_pruned_at: Mapped[datetime | None]
    """When retention gave up the moves."""
