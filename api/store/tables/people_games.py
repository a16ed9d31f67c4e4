"""Games of people against versions: rows, so that any API process can continue a game."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from api.schemas.enums import MatchResult
from api.store.tables.base import Base, Count, CreatedAt, EntityId, EnumText, Json, Ref, Small, not_negative, one_of


class PeopleGame(Base):
    """One game. Finished ones are kept as replays and counted apart: in no rating, payoff or match list."""

    __tablename__ = "people_games"
    __table_args__ = (
        not_negative("seat", "seed", "turn"),
        CheckConstraint("jsonb_typeof(answer) = 'object'", name="answer"),
        one_of("result", MatchResult),
        CheckConstraint("(result IS NULL) = (finished_at IS NULL)", name="finished"),
        Index(None, "touched_at"),
        Index(None, "version_id", "id"),
    )

    id: Mapped[EntityId]
    token_id: Mapped[Ref] = mapped_column(ForeignKey("api_tokens.id"))
    """The token of the person who plays."""
    version_id: Mapped[Ref] = mapped_column(ForeignKey("model_versions.id"))
    """The opponent."""
    seat: Mapped[Small]
    """The person's seat."""
    seed: Mapped[int]
    sampled: Mapped[bool]
    """Whether the opponent samples its moves or plays the best one."""
    turn: Mapped[Count]
    """Number of the person's moves: of two concurrent moves the second is refused."""
    answer: Mapped[Json]
    """The position and all moves, as the worker last reported them."""
    created_at: Mapped[CreatedAt]
    touched_at: Mapped[datetime] = mapped_column(server_default=func.now())
    start: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    """The recorded position that it began with: `match_id` or `game_id`, and `moves`; None: the usual start."""
    result: Mapped[MatchResult | None] = mapped_column(EnumText(MatchResult))
    """The person's; None before the end."""
    finished_at: Mapped[datetime | None]
    """A finished game is kept; others are deleted a day after the last move."""
