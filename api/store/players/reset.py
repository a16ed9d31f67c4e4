"""Resets: a learning player starts again from another version's weights."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, VersionOrigin
from api.schemas.events import PlayerReset
from api.store.core.commits import take_commit
from api.store.core.decisions import Subject, record_decision
from api.store.core.events import NewEvent
from api.store.players.versions import copy_version, playing_version, version_name, version_payload
from api.store.tables import ModelVersion, Player, Trial
from league.types import Decision as Verdict


def reset_player(
    session: Session, trial: Trial, player: Player, source: ModelVersion, subject: Subject, verdict: Verdict
) -> NewEvent:
    """Add a newest version with another version's weights; the player's steps continue."""
    number = playing_version(session, player).number + 1
    commit = take_commit(session, trial, CommitKind.RESET)
    version = copy_version(session, player, source, VersionOrigin.RESET, commit, number=number)
    record_decision(session, replace(subject, version_id=version.id), verdict, commit)
    payload = PlayerReset(
        **version_payload(player, version), to_version_id=source.id, to_version=version_name(session, source.id)
    )
    return NewEvent(trial_id=trial.id, payload=payload)
