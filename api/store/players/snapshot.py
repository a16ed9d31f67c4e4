"""Snapshots: a learning player's present version, frozen as a historical player of the league."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, VersionOrigin
from api.schemas.events import PlayerSnapshot
from api.store.core.commits import take_commit
from api.store.core.decisions import Subject, record_decision
from api.store.core.events import NewEvent
from api.store.core.ids import new_id
from api.store.payoffs.cells import inherit_payoff
from api.store.players.versions import copy_version, playing_version, version_payload
from api.store.tables import ModelVersion, Player, Trial
from league.types import Decision as Verdict
from league.types import Role
from orchestrator.league_rules import snapshot_name


def take_snapshot(
    session: Session, trial: Trial, player: Player, subject: Subject, verdict: Verdict
) -> tuple[ModelVersion, NewEvent]:
    """Freeze the player's present version as a new historical player with this one version."""
    source = playing_version(session, player)
    commit = take_commit(session, trial, CommitKind.SNAPSHOT)
    frozen = Player(
        id=new_id(),
        trial_id=trial.id,
        name=_snapshot_name(session, player),
        role=Role.HISTORICAL,
        parent_id=player.id,
        algorithm=player.algorithm,
        model=player.model,
        created_commit=commit,
        steps=player.steps,
    )
    session.add(frozen)
    session.flush()
    version = copy_version(session, frozen, source, VersionOrigin.SNAPSHOT, commit)
    player.steps_at_snapshot = player.steps
    if trial.spec["league"]["payoff"]["inherit"]:
        inherit_payoff(session, trial, commit, child=frozen.id, parent=player.id)
    record_decision(session, replace(subject, version_id=version.id), verdict, commit)
    payload = PlayerSnapshot(**version_payload(player, version), snapshot=frozen.name, snapshot_player_id=frozen.id)
    return version, NewEvent(trial_id=trial.id, payload=payload)


def _snapshot_name(session: Session, player: Player) -> str:
    taken = set(session.scalars(select(Player.name).where(Player.trial_id == player.trial_id)))
    snapshots = session.scalars(select(func.count()).where(Player.parent_id == player.id)).one()
    return snapshot_name(player.name, snapshots, taken)
