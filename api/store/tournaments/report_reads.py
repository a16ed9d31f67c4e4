"""Reads for a tournament's report other than pairings, and the state by which a cached report is validated."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from sqlalchemy import Row, func, select, tuple_
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from api.schemas.enums import MatchResult
from api.store.core.errors import NotFound
from api.store.tables import Match, Pairing, Tournament, TournamentEntrant
from api.store.tournaments.reads import get_tournament

PairingRow = Row[Any]
"""A pairing's columns, as `pairing_columns` reads them."""
GameRow = Row[int, int, int, str, str, MatchResult, int]
"""Match id, round, pair, version, opponent's version, result, plies."""
_END = select(Tournament.status, Tournament.status_reason, Tournament.finished_at)


def report_state(session: Session, tournament_id: str) -> Hashable:
    """A value that changes whenever the standings or the report would; cheap to read."""
    found = session.execute(_END.where(Tournament.id == tournament_id)).one_or_none()
    if found is None:
        raise NotFound(f"there is no tournament {tournament_id}")
    # nothing is recorded after the end; counting the pairings of a large tournament would cost more than all else here
    return tuple(found) if found.finished_at else (*found, *_progress(session, tournament_id))


def _progress(session: Session, tournament_id: str) -> tuple[object, ...]:
    """Numbers that change with whatever is planned, played or withdrawn in a tournament under way."""
    _, _, _, played, known = get_tournament(session, tournament_id)
    absent = select(func.count()).where(
        TournamentEntrant.tournament_id == tournament_id, TournamentEntrant.withdrawn.is_not(None)
    )
    if withdrawn := session.scalar(absent):
        walkovers = select(func.count()).where(Pairing.tournament_id == tournament_id, Pairing.walkover.is_not(None))
        return played, known, withdrawn, session.scalar(walkovers)
    return played, known


def longest_decided_games(
    session: Session, tournament_id: str, pairings: Sequence[tuple[int, int]]
) -> Sequence[GameRow]:
    """The longest won game of these pairings (round, pair) for each two versions and each winner."""
    return session.execute(
        select(
            Match.id, Match.round, Match.pair, Match.version_id, Match.opponent_version_id, Match.result, Match.plies
        )
        .where(Match.tournament_id == tournament_id, tuple_(Match.round, Match.pair).in_(pairings))
        .where(Match.result != MatchResult.DRAW)
        .ext(distinct_on(Match.version_id, Match.opponent_version_id, Match.result))
        .order_by(Match.version_id, Match.opponent_version_id, Match.result, Match.plies.desc(), Match.id)
    ).all()
