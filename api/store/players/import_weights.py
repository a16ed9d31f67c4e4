"""Imports weights: adds a historical player with one version to a league."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind
from api.schemas.events import VersionRecorded
from api.store.core.commits import lock_trial, take_commit
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.players.roster import player_named
from api.store.players.versions import first_version
from api.store.tables import ModelVersion, Player
from league.types import CheckpointRef, Role


def import_version(
    session: Session, trial_id: str, name: str, weights: CheckpointRef, *, like: str | None = None
) -> ModelVersion:
    """Add a frozen player with these weights to the league, as one commit of the trial.

    `like` names the player whose model they are of; None: the trial's.
    """
    trial = lock_trial(session, trial_id)
    if session.scalar(select(Player.id).where(Player.trial_id == trial_id, Player.name == name)) is not None:
        raise Conflict(f"trial {trial.name!r} already has a player named {name!r}")
    commit = take_commit(session, trial, CommitKind.IMPORT)
    alike = None if like is None else player_named(session, trial_id, like)
    player = Player(
        id=new_id(),
        trial_id=trial_id,
        name=name,
        role=Role.HISTORICAL,
        algorithm=None if alike is None else alike.algorithm,
        model=None if alike is None else alike.model,
        created_commit=commit,
    )
    session.add(player)
    session.flush()
    version = first_version(session, player, weights, imported=True)
    payload = VersionRecorded(player_id=player.id, player=name, version_id=version.id, origin=version.origin)
    append_events(session, [NewEvent(trial_id=trial_id, payload=payload)])
    return version
