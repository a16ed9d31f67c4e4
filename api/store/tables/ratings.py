"""Ratings: each fit is stored with the newest game it saw, so that curves over time can be drawn."""

from __future__ import annotations

from sqlalchemy import ARRAY, CheckConstraint, Double, ForeignKey, Index, Uuid, text
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import RatingMethod
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
)


class RatingFit(Base):
    """One fit of one method over all rating games of a project's game up to a match."""

    __tablename__ = "rating_fits"
    __table_args__ = (
        one_of("method", RatingMethod),
        not_blank("game"),
        not_negative("games", "last_match_id"),
        # one fit of each method per tournament, however often the activity is delivered
        Index(
            "uq_rating_fits_tournament",
            "tournament_id",
            "method",
            unique=True,
            postgresql_where=text("tournament_id IS NOT NULL"),
        ),
        Index(None, "project_id", "game", "method", "id"),
    )

    id: Mapped[EntityId]
    project_id: Mapped[Ref] = mapped_column(ForeignKey("projects.id"))
    game: Mapped[str]
    method: Mapped[RatingMethod] = mapped_column(EnumText(RatingMethod))
    tournament_id: Mapped[Ref | None] = mapped_column(ForeignKey("tournaments.id"))
    """The tournament after which it was made."""
    anchor_version_id: Mapped[Ref | None] = mapped_column(ForeignKey("model_versions.id"))
    games: Mapped[int]
    last_match_id: Mapped[int]
    """The newest match it saw, 0 before any. Exact if the games were read under LOCK TABLE matches IN SHARE MODE."""
    settings: Mapped[Json] = mapped_column(server_default=text("'{}'::jsonb"))
    created_at: Mapped[CreatedAt]


class Rating(Base):
    """One version's rating in a fit."""

    __tablename__ = "ratings"
    __table_args__ = (
        CheckConstraint("deviation >= 0", name="deviation"),
        CheckConstraint("rank >= 1", name="rank"),
        not_negative("games"),
        Index(None, "version_id", "fit_id"),
    )

    fit_id: Mapped[Ref] = mapped_column(ForeignKey("rating_fits.id"), primary_key=True)
    version_id: Mapped[Ref] = mapped_column(ForeignKey("model_versions.id"), primary_key=True)
    value: Mapped[float]
    """Elo above the anchor, or the method's own measure."""
    deviation: Mapped[float | None]
    """Standard error of the value against the anchor; None where the method gives none."""
    games: Mapped[int]
    rank: Mapped[Count]
    prior: Mapped[bool] = mapped_column(server_default=text("false"))
    """Whether the rating is finite only because of the prior."""


class RatingCovariance(Base):
    """The full covariance of a fit, for intervals on differences; old ones may be deleted."""

    __tablename__ = "rating_covariances"
    __table_args__ = (
        CheckConstraint(
            "cardinality(upper_triangle) = cardinality(versions) * (cardinality(versions) + 1) / 2",
            name="complete",
        ),
    )

    fit_id: Mapped[Ref] = mapped_column(ForeignKey("rating_fits.id"), primary_key=True)
    versions: Mapped[list[str]] = mapped_column(ARRAY(Uuid(as_uuid=False)))
    """The order of rows and columns."""
    upper_triangle: Mapped[list[float]] = mapped_column(ARRAY(Double))
    """Row by row, the diagonal included."""
