"""Reads finished games of people: a list of their own, apart from matches, and the counts of their results."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Integer, Select, func, literal, select
from sqlalchemy.orm import Session

from api.schemas.enums import MatchResult
from api.schemas.games import PeopleGameSummary
from api.store.core.errors import NotFound
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import ModelVersion, PeopleGame, Player

_GAMES, _VERSIONS, _PLAYERS = PeopleGame.__table__, ModelVersion.__table__, Player.__table__


def list_finished_games(
    session: Session, token_id: str, *, trial_id: str, version_id: str | None, before: str | None, limit: int
) -> list[Record]:
    """Finished games against versions of a trial, the newest first; `token_id` says which are the caller's own."""
    query = _of_trial(_summaries(token_id), trial_id, version_id).order_by(_GAMES.c.id.desc()).limit(limit)
    return read_records(session, query if before is None else query.where(_GAMES.c.id < before))


def count_finished_games(session: Session, trial_id: str) -> Record:
    """How many of them people won, drew and lost."""
    query = (
        select(_GAMES.c.result, func.count())
        .select_from(_GAMES.join(_VERSIONS, _VERSIONS.c.id == _GAMES.c.version_id))
        .group_by(_GAMES.c.result)
    )
    counted: dict[Any, int] = dict(tuple(row) for row in session.execute(_of_trial(query, trial_id)))
    return {
        "wins": counted.get(MatchResult.WIN, 0),
        "draws": counted.get(MatchResult.DRAW, 0),
        "losses": counted.get(MatchResult.LOSS, 0),
    }


def read_finished_game(session: Session, game_id: str) -> PeopleGame:
    """The row of a finished game of any person."""
    row = session.get(PeopleGame, game_id)
    if row is None or row.finished_at is None:
        raise NotFound(f"there is no finished game {game_id}; a game is shown to others when it has ended")
    return row


def finished_game_record(session: Session, game_id: str, token_id: str) -> Record:
    """One finished game as the list shows it."""
    return read_records(session, _summaries(token_id).where(_GAMES.c.id == game_id))[0]


def _summaries(token_id: str) -> Select[Any]:
    answer = _GAMES.c.answer
    return select(
        *fields_of(
            PeopleGameSummary,
            _GAMES,
            _VERSIONS.c.trial_id.label("trial_id"),
            _VERSIONS.c.player_id.label("player_id"),
            _VERSIONS.c.number.label("version_number"),
            _PLAYERS.c.name.label("player"),
            answer["position"]["ply"].astext.cast(Integer).label("plies"),
            answer["search"].astext.cast(Integer).label("search"),
            (_GAMES.c.token_id == literal(token_id, _GAMES.c.token_id.type)).label("mine"),
        )
    ).select_from(
        _GAMES.join(_VERSIONS, _VERSIONS.c.id == _GAMES.c.version_id).join(
            _PLAYERS, _PLAYERS.c.id == _VERSIONS.c.player_id
        )
    )


def _of_trial(query: Select[Any], trial_id: str, version_id: str | None = None) -> Select[Any]:
    found = query.where(_GAMES.c.finished_at.is_not(None), _VERSIONS.c.trial_id == trial_id)
    return found if version_id is None else found.where(_GAMES.c.version_id == version_id)
