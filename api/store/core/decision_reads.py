"""Decisions: why the league did what it did."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.core.records import Record, plain, read_records
from api.store.tables import Decision, Player
from league.types import DecisionKind


@dataclass(frozen=True, kw_only=True)
class DecisionFilter:
    """Which decisions."""

    kinds: tuple[DecisionKind, ...] = ()
    player_id: str | None = None
    generation: int | None = None


def list_decisions(
    session: Session, trial_id: str, which: DecisionFilter, *, before: int | None, limit: int
) -> list[Record]:
    """Decisions of a trial, each with `player`, the name of whom it is about, the newest first."""
    query = _NAMED.where(_DECISIONS.c.trial_id == trial_id).order_by(_DECISIONS.c.id.desc()).limit(limit)
    if which.kinds:
        query = query.where(_DECISIONS.c.kind.in_(which.kinds))
    if which.player_id is not None:
        query = query.where(_DECISIONS.c.player_id == which.player_id)
    if which.generation is not None:
        query = query.where(_DECISIONS.c.generation == which.generation)
    if before is not None:
        query = query.where(_DECISIONS.c.id < before)
    return read_records(session, query)


# tables and not entities: a list of entities costs several times as much to read
_DECISIONS, _PLAYERS = Decision.__table__, Player.__table__
_NAMED = select(*plain(_DECISIONS.c), _PLAYERS.c.name.label("player")).select_from(
    _DECISIONS.outerjoin(_PLAYERS, _PLAYERS.c.id == _DECISIONS.c.player_id)
)
