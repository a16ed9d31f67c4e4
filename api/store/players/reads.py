"""Reads players with their present versions, and model versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, bindparam, func, literal, select, true
from sqlalchemy.orm import Session

from api.schemas.enums import PlayerStatus
from api.schemas.events import PlayerRetired
from api.schemas.players import Player as PlayerAnswer
from api.schemas.versions import Version, VersionReturns
from api.store.core.errors import NotFound
from api.store.core.records import Record, fields_of, read_records
from api.store.tables import Alias, Event, ModelVersion, Player, ReturnTally
from league.types import Role, Stream
from orchestrator.storage.uris import without_secrets

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
) -> list[Record]:
    """Players in the order they joined, each with the id and number of its present version."""
    query = _WITH_PRESENT_VERSION.where(_PLAYERS.c.trial_id == trial_id).order_by(_PLAYERS.c.id).limit(limit)
    if roles:
        query = query.where(_PLAYERS.c.role.in_(roles))
    if status is not None:
        query = query.where(_PLAYERS.c.status == status)
    if after is not None:
        query = query.where(_PLAYERS.c.id > after)
    return read_records(session, query)


def read_player(session: Session, player_id: str) -> Record:
    """One player, with the id and number of its present version."""
    found = read_records(session, _WITH_PRESENT_VERSION.where(_PLAYERS.c.id == player_id))
    if not found:
        raise NotFound(f"there is no player {player_id}")
    return found[0]


def retired_reason(session: Session, trial_id: str, player_id: str) -> str | None:
    """Why the player was retired; None for one that is active."""
    query = select(Event.payload["reason"].astext).where(Event.trial_id == trial_id, Event.type == PlayerRetired.KIND)
    query = query.where(Event.payload["player_id"].astext == player_id).order_by(Event.id.desc()).limit(1)
    return session.scalar(query)


def list_versions(
    session: Session, trial_id: str, *, before: str | None, limit: int, player_id: str | None = None
) -> list[Record]:
    """Versions with their players' names, the newest first."""
    query = _ANSWERS.where(_VERSIONS.c.trial_id == trial_id).order_by(_VERSIONS.c.id.desc()).limit(limit)
    if player_id is not None:
        query = query.where(_VERSIONS.c.player_id == player_id)
    if before is not None:
        query = query.where(_VERSIONS.c.id < before)
    return _read_versions(session, query)


def read_version(session: Session, version_id: str) -> Record:
    """One version with its player's name."""
    found = _read_versions(session, _ANSWERS.where(_VERSIONS.c.id == version_id))
    if not found:
        raise NotFound(f"there is no version {version_id}")
    return found[0]


def get_version(session: Session, version_id: str) -> VersionRow:
    """The row of one version, and its player's name."""
    row = session.execute(_NAMED_VERSIONS.where(ModelVersion.id == version_id)).one_or_none()
    if row is None:
        raise NotFound(f"there is no version {version_id}")
    return row


def lineage(session: Session, version_id: str) -> list[Record]:
    """The version's ancestors, the nearest first; across players and, after a fork, across trials."""
    return _read_versions(session, _LINEAGE, {"of_version": version_id})


def _read_versions(session: Session, query: Select[Any], parameters: Mapping[str, Any] | None = None) -> list[Record]:
    records = read_records(session, query, parameters)
    for record in records:
        if record["uri"] is not None:
            record["uri"] = without_secrets(record["uri"])
    return records


def returns_of(session: Session, version_id: str) -> Record | None:
    """The training returns of a version of a one-seat game."""
    found = read_records(session, _RETURNS, {"of_version": version_id})
    return found[0] if found else None


def aliases_of(session: Session, version_id: str) -> Sequence[str]:
    """The aliases that point at the version now."""
    return session.scalars(select(Alias.name).where(Alias.version_id == version_id).order_by(Alias.name)).all()


def _lineage() -> Select[Any]:
    line = (
        select(_VERSIONS.c.id, _VERSIONS.c.parent_id, literal(0).label("depth"))
        .where(_VERSIONS.c.id == bindparam("of_version"))
        .cte(recursive=True)
    )
    parent = _VERSIONS.alias()
    line = line.union_all(
        select(parent.c.id, parent.c.parent_id, line.c.depth + 1)
        .join(line, parent.c.id == line.c.parent_id)
        .where(line.c.depth < LONGEST_LINEAGE)
    )
    return _ANSWERS.join(line, line.c.id == _VERSIONS.c.id).where(line.c.depth > 0).order_by(line.c.depth)


def _returns() -> Select[Any]:
    tallies = ReturnTally.__table__
    # of a sum of squares; a single game has no deviation
    deviation = func.sqrt(tallies.c.deviations / func.nullif(tallies.c.games - 1, 0)).label("deviation")
    return select(*fields_of(VersionReturns, tallies, deviation)).where(
        tallies.c.version_id == bindparam("of_version"), tallies.c.stream == Stream.TRAINING
    )


def _with_present_version() -> Select[Any]:
    present = (
        select(_VERSIONS.c.id, _VERSIONS.c.number)
        .where(_VERSIONS.c.player_id == _PLAYERS.c.id)
        .order_by(_VERSIONS.c.number.desc())
        .limit(1)
        .lateral()
    )
    named = present.c.id.label("version_id"), present.c.number.label("version_number")
    return select(*fields_of(PlayerAnswer, _PLAYERS, *named)).select_from(_PLAYERS.outerjoin(present, true()))


_PLAYERS, _VERSIONS = Player.__table__, ModelVersion.__table__
# built once: building a statement costs more than running it
_NAMED_VERSIONS = select(ModelVersion, Player.name).join(Player, Player.id == ModelVersion.player_id)
_ANSWERS = select(*fields_of(Version, _VERSIONS, _PLAYERS.c.name.label("player"))).select_from(
    _VERSIONS.join(_PLAYERS, _PLAYERS.c.id == _VERSIONS.c.player_id)
)
_LINEAGE = _lineage()
_RETURNS = _returns()
_WITH_PRESENT_VERSION = _with_present_version()
