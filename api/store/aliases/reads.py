"""Reads the aliases of a project, by name and, where several games share the name, by game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, select, tuple_
from sqlalchemy.orm import Session

from api.schemas.aliases import Alias as AliasAnswer
from api.schemas.aliases import Move
from api.store.core.errors import Conflict, NotFound
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import Alias, AliasEvent, ModelVersion, Trial


def list_aliases(session: Session, project_id: str, *, after: tuple[str, str] | None, limit: int) -> list[Record]:
    """Aliases by name, then by game; `after` is the name and game of the last one read."""
    query = _ALIASES.where(Alias.project_id == project_id).order_by(Alias.name, Alias.game).limit(limit)
    if after is not None:
        query = query.where(tuple_(Alias.name, Alias.game) > after)
    return read_records(session, query)


def read_alias(session: Session, alias: Alias) -> Record:
    """An alias as answers show it, after it was found or moved."""
    this = Alias.project_id == alias.project_id, Alias.game == alias.game, Alias.name == alias.name
    return read_records(session, _ALIASES.where(*this))[0]


def list_moves(session: Session, alias: Alias, *, before: int | None, limit: int) -> list[Record]:
    """Moves of an alias, the newest first; `before` is a revision."""
    of_alias = AliasEvent.project_id == alias.project_id, AliasEvent.game == alias.game, AliasEvent.name == alias.name
    query = _MOVES.where(*of_alias).order_by(AliasEvent.revision.desc()).limit(limit)
    if before is not None:
        query = query.where(AliasEvent.revision < before)
    return read_records(session, query)


def find_alias(session: Session, project_id: str, name: str, game: str | None) -> Alias:
    """The alias of this name; the game is required if several games have an alias of this name."""
    found: Sequence[Alias] = session.scalars(_named(select(Alias), project_id, name, game)).all()
    return found[_only([alias.game for alias in found], name, game)]


def find_alias_record(session: Session, project_id: str, name: str, game: str | None) -> Record:
    """The same alias, as answers show it."""
    found = read_records(session, _named(_ALIASES, project_id, name, game))
    return found[_only([alias["game"] for alias in found], name, game)]


def _named(query: Select[Any], project_id: str, name: str, game: str | None) -> Select[Any]:
    query = query.where(Alias.project_id == project_id, Alias.name == name).order_by(Alias.game)
    return query if game is None else query.where(Alias.game == game)


def _only(games: Sequence[str], name: str, game: str | None) -> int:
    """The index of the one alias that was found, by the games of all."""
    if not games:
        raise NotFound(f"there is no alias {name!r}" + (f" for {game}" if game else "") + " in this project")
    if len(games) > 1:
        raise Conflict(
            f"several games have an alias {name!r}: {', '.join(games)}. Name one: by the parameter game, in commands "
            f"by --game or as project@{name}:GAME"
        )
    return 0


def project_and_game_of(session: Session, version_id: str) -> tuple[str, str]:
    """The project and game a version belongs to."""
    row = session.execute(
        select(Trial.project_id, Trial.game)
        .join(ModelVersion, ModelVersion.trial_id == Trial.id)
        .where(ModelVersion.id == version_id)
    ).one_or_none()
    if row is None:
        raise NotFound(f"there is no version {version_id}")
    return row[0], row[1]


_ALIASES = select(*fields_of(AliasAnswer, Alias.__table__))
_MOVES = select(*fields_of(Move, AliasEvent.__table__))
