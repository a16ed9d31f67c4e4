"""A player's model versions: the present one, the first one, and copies of another version's weights."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import VersionOrigin
from api.store.core.errors import Conflict
from api.store.core.ids import new_id
from api.store.tables import ModelVersion, Player, Trial
from league.types import CheckpointRef, Role


def present_version(session: Session, player_id: str) -> ModelVersion | None:
    """The player's newest version, with which it plays and from which it learns."""
    newest_first = select(ModelVersion).where(ModelVersion.player_id == player_id).order_by(ModelVersion.number.desc())
    return session.scalars(newest_first.limit(1)).one_or_none()


def playing_version(session: Session, player: Player) -> ModelVersion:
    """The player's present version; Conflict if it has none yet."""
    version = present_version(session, player.id)
    if version is None:
        raise Conflict(f"{player.name} has no version yet; the trial's players must be entered first")
    return version


def origin_version(session: Session, player: Player) -> ModelVersion:
    """The player's very first version, before any fork."""
    while player.forked_from_player_id is not None:
        player = session.get_one(Player, player.forked_from_player_id)
    first = session.scalars(
        select(ModelVersion).where(ModelVersion.player_id == player.id).order_by(ModelVersion.number).limit(1)
    ).one_or_none()
    if first is None:
        raise Conflict(f"{player.name} has no version yet; the trial's players must be entered first")
    return first


def first_version(
    session: Session, player: Player, weights: CheckpointRef | None, *, imported: bool = False
) -> ModelVersion:
    """The player's version 0, of the commit that created the player; a bot has no weights."""
    version = ModelVersion(
        id=new_id(),
        trial_id=player.trial_id,
        player_id=player.id,
        number=0,
        origin=VersionOrigin.IMPORTED if imported else VersionOrigin.INITIAL,
        steps=0,
        commit=player.created_commit,
    )
    if player.role is Role.BOT:
        version.origin = VersionOrigin.BOT
    elif weights is not None:
        version.uri, version.sha256, version.size = weights.uri, weights.sha256, weights.size
    session.add(version)
    session.flush()
    return version


def copy_version(
    session: Session, player: Player, source: ModelVersion, origin: VersionOrigin, commit: int, *, number: int = 0
) -> ModelVersion:
    """A new version of the player with another version's weights, by reference."""
    if source.uri is None:
        raise Conflict(f"version {source.id} is a bot's and has no weights to take over")
    version = ModelVersion(
        id=new_id(),
        trial_id=player.trial_id,
        player_id=player.id,
        number=number,
        origin=origin,
        parent_id=source.id,
        steps=player.steps,
        uri=source.uri,
        sha256=source.sha256,
        size=source.size,
        commit=commit,
    )
    session.add(version)
    session.flush()
    return version


def version_name(session: Session, version_id: str) -> str:
    """The version as people read it: `main v3`, or `main-1` for a player that only ever has one version."""
    version = session.get_one(ModelVersion, version_id)
    player = session.get_one(Player, version.player_id)
    return f"{player.name} v{version.number}" if player.role.learns else player.name


def other_trial(session: Session, version_id: str, *, than: str) -> Trial | None:
    """The trial of a version, if it is another one than `than`."""
    trial_id = session.get_one(ModelVersion, version_id).trial_id
    return None if trial_id == than else session.get_one(Trial, trial_id)


def version_payload(player: Player, version: ModelVersion) -> dict[str, Any]:
    """The event fields of a player's new version that has another version's weights."""
    return {
        "player_id": player.id,
        "player": player.name,
        "version_id": version.id,
        "steps": version.steps,
        "commit": version.commit,
    }
