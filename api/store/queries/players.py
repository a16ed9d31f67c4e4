"""Players with their present versions, and the versions themselves."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Row, Select, literal, select, true
from sqlalchemy.orm import Session, aliased

from api.store.errors import NotFound
from api.store.models import Alias, ModelVersion, Player
from api.store.models.words import PlayerStatus
from league.types import Role

PlayerRow = Row[Player, str | None, int | None]
VersionRow = Row[ModelVersion, str]
LONGEST_LINEAGE = 1_000


def list_players(
    session: Session,
    trial_id: str,
    *,
    after: str | None,
    limit: int,
    roles: Sequence[Role] = (),
    status: PlayerStatus | None = None,
) -> Sequence[PlayerRow]:
    """Players in the order they joined, each with the id and number of its present version."""
    query = _WITH_PRESENT_VERSION.where(Player.trial_id == trial_id).order_by(Player.id).limit(limit)
    if roles:
        query = query.where(Player.role.in_(roles))
    if status is not None:
        query = query.where(Player.status == status)
    if after is not None:
        query = query.where(Player.id > after)
    return session.execute(query).all()


def get_player(session: Session, player_id: str) -> PlayerRow:
    """One player."""
    row = session.execute(_WITH_PRESENT_VERSION.where(Player.id == player_id)).one_or_none()
    if row is None:
        raise NotFound(f"there is no player {player_id}")
    return row


def list_versions(
    session: Session, trial_id: str, *, before: str | None, limit: int, player_id: str | None = None
) -> Sequence[VersionRow]:
    """Versions with their players' names, the newest first."""
    query = _NAMED_VERSIONS.where(ModelVersion.trial_id == trial_id).order_by(ModelVersion.id.desc()).limit(limit)
    if player_id is not None:
        query = query.where(ModelVersion.player_id == player_id)
    if before is not None:
        query = query.where(ModelVersion.id < before)
    return session.execute(query).all()


def get_version(session: Session, version_id: str) -> VersionRow:
    """One version."""
    row = session.execute(_NAMED_VERSIONS.where(ModelVersion.id == version_id)).one_or_none()
    if row is None:
        raise NotFound(f"there is no version {version_id}")
    return row


def lineage(session: Session, version_id: str) -> Sequence[VersionRow]:
    """The version's ancestors, the nearest first; across players and, after a fork, across trials."""
    line = (
        select(ModelVersion.id, ModelVersion.parent_id, literal(0).label("depth"))
        .where(ModelVersion.id == version_id)
        .cte(recursive=True)
    )
    parent = aliased(ModelVersion)
    line = line.union_all(
        select(parent.id, parent.parent_id, line.c.depth + 1)
        .join(line, parent.id == line.c.parent_id)
        .where(line.c.depth < LONGEST_LINEAGE)
    )
    query = _NAMED_VERSIONS.join(line, line.c.id == ModelVersion.id).where(line.c.depth > 0).order_by(line.c.depth)
    return session.execute(query).all()


def aliases_of(session: Session, version_id: str) -> Sequence[str]:
    """The aliases that point at the version now."""
    return session.scalars(select(Alias.name).where(Alias.version_id == version_id).order_by(Alias.name)).all()


def _named_versions() -> Select[ModelVersion, str]:
    return select(ModelVersion, Player.name).join(Player, Player.id == ModelVersion.player_id)


def _with_present_version() -> Select[Player, str | None, int | None]:
    present = (
        select(ModelVersion.id, ModelVersion.number)
        .where(ModelVersion.player_id == Player.id)
        .order_by(ModelVersion.number.desc())
        .limit(1)
        .lateral()
    )
    return select(Player, present.c.id, present.c.number).outerjoin(present, true())


# built once: a statement costs more to put together than to run
_NAMED_VERSIONS = _named_versions()
_WITH_PRESENT_VERSION = _with_present_version()
