"""Model versions: finding a player's present one, and recording the weights a player starts from."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import VersionOrigin
from api.store.core.commits import lock_trial
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.tables import ModelVersion, Player
from league.types import CheckpointRef, Role


def present_version(session: Session, player_id: str) -> ModelVersion | None:
    """The player's newest version: what it plays with and learns from."""
    newest_first = select(ModelVersion).where(ModelVersion.player_id == player_id).order_by(ModelVersion.number.desc())
    return session.scalars(newest_first.limit(1)).one_or_none()


def record_first_version(
    session: Session, player_id: str, checkpoint: CheckpointRef, *, imported: bool = False
) -> ModelVersion:
    """Version 0 of a player, or the one recorded before. It belongs to the commit that made the player."""
    player = session.get(Player, player_id)
    if player is None:
        raise NotFound(f"there is no player {player_id}")
    if player.role is Role.BOT:
        raise Conflict(f"{player.name} is a bot and has no weights")
    lock_trial(session, player.trial_id)
    first = session.scalars(
        select(ModelVersion).where(ModelVersion.player_id == player_id, ModelVersion.number == 0)
    ).one_or_none()
    if first is not None:
        return first
    version = ModelVersion(
        id=new_id(),
        trial_id=player.trial_id,
        player_id=player_id,
        number=0,
        origin=VersionOrigin.IMPORTED if imported else VersionOrigin.INITIAL,
        steps=0,
        uri=checkpoint.uri,
        sha256=checkpoint.sha256,
        size=checkpoint.size,
        commit=player.created_commit,
    )
    session.add(version)
    payload = {"player_id": player_id, "player": player.name, "version_id": version.id, "origin": version.origin}
    append_events(session, [NewEvent(type="version.recorded", trial_id=player.trial_id, payload=payload)])
    return version
