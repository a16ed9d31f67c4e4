"""Reads matches: lists, newest first, and single ones with their moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, select, union_all
from sqlalchemy.orm import Session

from api.schemas.matches import Match as MatchAnswer
from api.schemas.matches import MatchSummary
from api.store.core.errors import Gone, NotFound
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import Match, ModelVersion, Player
from league.types import Stream

_MATCHES = Match.__table__
"""Tables instead of entities: a list of entities costs several times as much to read."""


@dataclass(frozen=True, kw_only=True)
class MatchFilter:
    """Selects matches. A player, or a version, counts on either side unless both sides are named."""

    stream: Stream | None = None
    player_id: str | None = None
    opponent_id: str | None = None
    version_id: str | None = None
    gate_id: str | None = None
    tournament_id: str | None = None


def list_matches(
    session: Session, trial_id: str, which: MatchFilter, *, before: int | None, limit: int
) -> list[Record]:
    """Matches of a trial with the names of both sides, the newest first, without their moves."""
    query = _SUMMARIES.where(_MATCHES.c.id.in_(_page(trial_id, which, before, limit))).order_by(_MATCHES.c.id.desc())
    return read_records(session, query)


def _page(trial_id: str, which: MatchFilter, before: int | None, limit: int) -> Select[int]:
    """The ids of a page, cut before any name is joined.

    A player may be on either side. Each side has its own index, so each is queried separately.
    """
    sides = [_newest(conditions, trial_id, which, before, limit) for conditions in _sides(which)]
    if len(sides) == 1:
        return sides[0]
    either = union_all(*(side.subquery().select() for side in sides)).subquery()
    return select(either.c.id).order_by(either.c.id.desc()).limit(limit)


def _newest(
    conditions: list[ColumnElement[bool]], trial_id: str, which: MatchFilter, before: int | None, limit: int
) -> Select[int]:
    query = (
        select(_MATCHES.c.id)
        .where(_MATCHES.c.trial_id == trial_id, *conditions)
        .order_by(_MATCHES.c.id.desc())
        .limit(limit)
    )
    if which.stream is not None:
        query = query.where(_MATCHES.c.stream == which.stream)
    if which.gate_id is not None:
        query = query.where(_MATCHES.c.gate_id == which.gate_id)
    if which.tournament_id is not None:
        query = query.where(_MATCHES.c.tournament_id == which.tournament_id)
    return query if before is None else query.where(_MATCHES.c.id < before)


def _sides(which: MatchFilter) -> list[list[ColumnElement[bool]]]:
    """Conditions on the two sides, as recorded and swapped."""
    player, opponent = which.player_id or which.opponent_id, which.opponent_id if which.player_id else None
    wanted = (player, opponent, which.version_id)
    if wanted == (None, None, None):
        return [[]]
    recorded = (_MATCHES.c.player_id, _MATCHES.c.opponent_id, _MATCHES.c.version_id)
    swapped = (_MATCHES.c.opponent_id, _MATCHES.c.player_id, _MATCHES.c.opponent_version_id)
    return [
        [column == value for column, value in zip(columns, wanted, strict=True) if value is not None]
        for columns in (recorded, swapped)
    ]


def read_match(session: Session, match_id: int) -> Record:
    """One match with its moves."""
    found = read_records(session, _WHOLE.where(_MATCHES.c.id == match_id))
    if not found:
        raise NotFound(f"there is no match {match_id}")
    return found[0]


def moves_of(match: Record) -> list[int]:
    """The moves of a match that was read; Gone if they were pruned."""
    moves: list[int] | None = match["moves"]
    if moves is None:
        raise Gone(
            f"the moves of match {match['id']} were pruned on {match['moves_pruned_at']:%Y-%m-%d}; its result is kept"
        )
    return moves


def _answers(schema: type[MatchSummary]) -> Select[Any]:
    """Matches with the names of both players and the numbers of both versions."""
    player, opponent = Player.__table__.alias(), Player.__table__.alias()
    version, opposed = ModelVersion.__table__.alias(), ModelVersion.__table__.alias()
    return (
        select(
            *fields_of(
                schema,
                _MATCHES,
                player.c.name.label("player"),
                opponent.c.name.label("opponent"),
                version.c.number.label("version_number"),
                opposed.c.number.label("opponent_version_number"),
            )
        )
        .join(player, player.c.id == _MATCHES.c.player_id)
        .join(opponent, opponent.c.id == _MATCHES.c.opponent_id)
        .join(version, version.c.id == _MATCHES.c.version_id)
        .join(opposed, opposed.c.id == _MATCHES.c.opponent_version_id)
    )


# built once: putting four aliases together costs more than the query itself
_SUMMARIES = _answers(MatchSummary)
_WHOLE = _answers(MatchAnswer)
