"""Versions that are not trained but taken over: a snapshot for the league, a reset, a return to a good one.

Each is one commit with its decision, made under the trial's lock. Events are returned, to be written last.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, VersionOrigin
from api.store.core.commits import take_commit
from api.store.core.decisions import Subject, record_decision
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent
from api.store.core.ids import new_id
from api.store.payoffs.cells import inherit_payoff
from api.store.players.weights import playing_version
from api.store.tables import ModelVersion, Player, Trial
from league.types import Decision as Verdict
from league.types import Role


def take_snapshot(
    session: Session, trial: Trial, player: Player, subject: Subject, verdict: Verdict
) -> tuple[ModelVersion, NewEvent]:
    """Freeze the player's present version as a historical player of the league, with this one version."""
    source = playing_version(session, player)
    commit = take_commit(session, trial, CommitKind.SNAPSHOT)
    frozen = Player(
        id=new_id(),
        trial_id=trial.id,
        name=_snapshot_name(session, player),
        role=Role.HISTORICAL,
        parent_id=player.id,
        created_commit=commit,
        steps=player.steps,
    )
    session.add(frozen)
    session.flush()
    version = take_over(session, frozen, source, VersionOrigin.SNAPSHOT, commit)
    player.steps_at_snapshot = player.steps
    if trial.spec["league"]["payoff"]["inherit"]:
        inherit_payoff(session, trial, commit, child=frozen.id, parent=player.id)
    record_decision(session, replace(subject, version_id=version.id), verdict, commit)
    return version, _told("player.snapshot", player, version, snapshot=frozen.name, snapshot_player_id=frozen.id)


def reset_player(
    session: Session, trial: Trial, player: Player, source: ModelVersion, subject: Subject, verdict: Verdict
) -> NewEvent:
    """Let the player start again from another version's weights, as its newest version; its steps count on."""
    number = playing_version(session, player).number + 1
    commit = take_commit(session, trial, CommitKind.RESET)
    version = take_over(session, player, source, VersionOrigin.RESET, commit, number=number)
    record_decision(session, replace(subject, version_id=version.id), verdict, commit)
    return _told("player.reset", player, version, to_version_id=source.id)


def roll_back_player(
    session: Session, trial: Trial, player: Player, source: ModelVersion, subject: Subject, verdict: Verdict
) -> NewEvent:
    """Go back from a damaged version, which the subject names, to a good one, which becomes the newest."""
    number = playing_version(session, player).number + 1
    commit = take_commit(session, trial, CommitKind.ROLLBACK)
    version = take_over(session, player, source, VersionOrigin.ROLLBACK, commit, number=number)
    record_decision(session, subject, verdict, commit)
    return _told("player.rollback", player, version, reason=verdict.reason)


def take_over(
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


def _snapshot_name(session: Session, player: Player) -> str:
    """The next free of main-1, main-2, ...; a player of the trial file may have taken one of them."""
    taken = set(session.scalars(select(Player.name).where(Player.trial_id == player.trial_id)))
    number = 1 + session.scalars(select(func.count()).where(Player.parent_id == player.id)).one()
    while f"{player.name}-{number}" in taken:
        number += 1
    return f"{player.name}-{number}"


def _told(event: str, player: Player, version: ModelVersion, **more: str) -> NewEvent:
    payload = {
        "player_id": player.id,
        "player": player.name,
        "version_id": version.id,
        "steps": version.steps,
        "commit": version.commit,
        **more,
    }
    return NewEvent(type=event, trial_id=player.trial_id, payload=payload)
