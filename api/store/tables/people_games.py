"""Games of people against versions: temporary rows, so that any API process can continue a game."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from api.store.tables.base import Base, Count, CreatedAt, EntityId, Json, Ref, Small, not_negative


class PeopleGame(Base):
    """One game; its result counts nowhere."""

    __tablename__ = "people_games"
    __table_args__ = (
        not_negative("seat", "seed", "turn"),
        CheckConstraint("jsonb_typeof(answer) = 'object'", name="answer"),
        Index(None, "touched_at"),
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
