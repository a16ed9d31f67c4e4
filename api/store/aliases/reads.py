"""Aliases of a project, found by name and, where that is not enough, by game."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from api.store.core.errors import Conflict, NotFound
from api.store.tables import Alias, ModelVersion, Trial


def list_aliases(session: Session, project_id: str, *, after: tuple[str, str] | None, limit: int) -> Sequence[Alias]:
    """Aliases by name, then by game; `after` is one's name and game."""
    query = select(Alias).where(Alias.project_id == project_id).order_by(Alias.name, Alias.game).limit(limit)
    if after is not None:
        query = query.where(tuple_(Alias.name, Alias.game) > after)
    return session.scalars(query).all()


def find_alias(session: Session, project_id: str, name: str, game: str | None) -> Alias:
    """The alias of this name; with several games in one project the game must be said."""
    query = select(Alias).where(Alias.project_id == project_id, Alias.name == name).order_by(Alias.game)
    if game is not None:
        query = query.where(Alias.game == game)
    found = session.scalars(query).all()
    if not found:
        raise NotFound(f"there is no alias {name!r}" + (f" for {game}" if game else "") + " in this project")
    if len(found) > 1:
        games = ", ".join(alias.game for alias in found)
        raise Conflict(f"several games have an alias {name!r}; say which, as ?game=, one of: {games}")
    return found[0]


def home_of(session: Session, version_id: str) -> tuple[str, str]:
    """The project and game a version belongs to."""
    row = session.execute(
        select(Trial.project_id, Trial.game)
        .join(ModelVersion, ModelVersion.trial_id == Trial.id)
        .where(ModelVersion.id == version_id)
    ).one_or_none()
    if row is None:
        raise NotFound(f"there is no version {version_id}")
    return row[0], row[1]
