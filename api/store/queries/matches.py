"""Matches: gating and rating games, listed newest first and one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Row, Select, or_, select
from sqlalchemy.orm import Session, aliased, undefer

from api.store.errors import NotFound
from api.store.models import Match, ModelVersion, Player
from league.types import Stream

MatchRow = Row[Match, str, str, int, int]


@dataclass(frozen=True, kw_only=True)
class MatchFilter:
    """Which matches. A player, or a version, counts on either side unless both sides are named."""

    stream: Stream | None = None
    player_id: str | None = None
    opponent_id: str | None = None
    version_id: str | None = None
    gate_id: str | None = None
    tournament_id: str | None = None


def list_matches(
    session: Session, trial_id: str, which: MatchFilter, *, before: int | None, limit: int
) -> Sequence[MatchRow]:
    """Matches of a trial with the names of both sides, the newest first, without their moves."""
    # the page is cut before the names are joined, so that an index alone finds it among a million rows
    page = _filtered(select(Match.id).where(Match.trial_id == trial_id), which).order_by(Match.id.desc()).limit(limit)
    if before is not None:
        page = page.where(Match.id < before)
    ids = session.scalars(page).all()
    query = _named().where(Match.id.in_(ids)).order_by(Match.id.desc())
    return session.execute(query).all() if ids else []


def get_match(session: Session, match_id: int) -> MatchRow:
    """One match with its moves."""
    query = _named().where(Match.id == match_id).options(undefer(Match.moves), undefer(Match.opening))
    row = session.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"there is no match {match_id}")
    return row


def _filtered(query: Select[int], which: MatchFilter) -> Select[int]:
    if which.stream is not None:
        query = query.where(Match.stream == which.stream)
    if which.player_id is not None and which.opponent_id is not None:
        # both orders: whoever was named first when the game was recorded
        pairs = [(which.player_id, which.opponent_id), (which.opponent_id, which.player_id)]
        query = query.where(or_(*((Match.player_id == a) & (Match.opponent_id == b) for a, b in pairs)))
    elif one := which.player_id or which.opponent_id:
        query = query.where(or_(Match.player_id == one, Match.opponent_id == one))
    if which.version_id is not None:
        query = query.where(or_(Match.version_id == which.version_id, Match.opponent_version_id == which.version_id))
    if which.gate_id is not None:
        query = query.where(Match.gate_id == which.gate_id)
    if which.tournament_id is not None:
        query = query.where(Match.tournament_id == which.tournament_id)
    return query


def _named() -> Select[Match, str, str, int, int]:
    player, opponent = aliased(Player), aliased(Player)
    version, opposed = aliased(ModelVersion), aliased(ModelVersion)
    return (
        select(Match, player.name, opponent.name, version.number, opposed.number)
        .join(player, player.id == Match.player_id)
        .join(opponent, opponent.id == Match.opponent_id)
        .join(version, version.id == Match.version_id)
        .join(opposed, opposed.id == Match.opponent_version_id)
    )
