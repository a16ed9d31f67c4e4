"""The payoff: results of players against each other, recomputable from the tallies."""

from __future__ import annotations

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from api.store.tables.base import (
    Base,
    EnumText,
    Ref,
    Small,
    in_commit,
    not_negative,
    one_of,
    returns_of_both,
    same_trial,
)
from league.types import Stream


class Payoff(Base):
    """One cell: decayed and raw results of a player against an opponent in one seating, kept from both sides."""

    __tablename__ = "payoffs"
    __table_args__ = (
        same_trial("player_id", "players"),
        same_trial("opponent_id", "players"),
        in_commit("revision"),
        one_of("stream", Stream),
        # gating games count for their gate and nowhere else
        CheckConstraint("stream <> 'gating'", name="no_gating"),
        CheckConstraint("player_id <> opponent_id", name="opponents_differ"),
        CheckConstraint("seat >= 0 AND opponent_seat >= 0 AND seat <> opponent_seat", name="seats"),
        CheckConstraint("raw_wins + raw_draws + raw_losses > 0", name="played"),
        CheckConstraint(
            # decay only reduces; the margin is for rounding over many updates
            "wins <= raw_wins * (1 + 1e-9) AND draws <= raw_draws * (1 + 1e-9) AND losses <= raw_losses * (1 + 1e-9)",
            name="decayed_within_raw",
        ),
        not_negative("wins", "draws", "losses", "raw_wins", "raw_draws", "raw_losses"),
        returns_of_both(),
    )

    trial_id: Mapped[Ref] = mapped_column(primary_key=True)
    stream: Mapped[Stream] = mapped_column(EnumText(Stream), primary_key=True)
    player_id: Mapped[Ref] = mapped_column(primary_key=True)
    opponent_id: Mapped[Ref] = mapped_column(primary_key=True)
    seat: Mapped[Small] = mapped_column(primary_key=True, autoincrement=False)
    opponent_seat: Mapped[Small] = mapped_column(primary_key=True, autoincrement=False)
    wins: Mapped[float]
    draws: Mapped[float]
    losses: Mapped[float]
    raw_wins: Mapped[int]
    raw_draws: Mapped[int]
    raw_losses: Mapped[int]
    returns: Mapped[float | None]
    """The player's returns in these games, decayed like the results; None if not all were counted."""
    opponent_returns: Mapped[float | None]
    revision: Mapped[int]
    """The commit that last changed the cell."""
