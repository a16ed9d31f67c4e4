"""Decisions: why the league did what it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from api.store.models import Decision, Player
from league.types import DecisionKind

DecisionRow = Row[Decision, str | None]


@dataclass(frozen=True, kw_only=True)
class DecisionFilter:
    """Which decisions."""

    kinds: tuple[DecisionKind, ...] = ()
    player_id: str | None = None
    generation: int | None = None


def list_decisions(
    session: Session, trial_id: str, which: DecisionFilter, *, before: int | None, limit: int
) -> Sequence[DecisionRow]:
    """Decisions of a trial with the players' names, the newest first."""
    query = (
        select(Decision, Player.name)
        .outerjoin(Player, Player.id == Decision.player_id)
        .where(Decision.trial_id == trial_id)
        .order_by(Decision.id.desc())
        .limit(limit)
    )
    if which.kinds:
        query = query.where(Decision.kind.in_(which.kinds))
    if which.player_id is not None:
        query = query.where(Decision.player_id == which.player_id)
    if which.generation is not None:
        query = query.where(Decision.generation == which.generation)
    if before is not None:
        query = query.where(Decision.id < before)
    return session.execute(query).all()
