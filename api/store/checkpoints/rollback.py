"""Handles the damaged checkpoints that a generation found, with a recorded rollback decision.

See docs/decisions/checkpoints-and-artifacts.md.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, PlayerStatus, VersionOrigin
from api.schemas.events import CheckpointDamaged, PlayerRolledBack
from api.store.checkpoints.damaged import checkpoint_is_intact, unreadable_sha256, version_is_intact
from api.store.core.commits import lock_trial, take_commit
from api.store.core.decisions import Subject, find_decision, record_decision
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events
from api.store.players.pruned import is_pruned
from api.store.players.roster import player_of, retire_player
from api.store.players.versions import copy_version, origin_version, playing_version, version_payload
from api.store.players.weights import checkpoint_of
from api.store.tables import ModelVersion, Player, Trial
from league.types import CheckpointRef, Decision, DecisionKind, Role
from orchestrator.storage.artifacts import ArtifactStore, is_called_unreadable

ROLLED_BACK, RETIRED, AVOIDED = "rolled back", "retired", "avoided"
Heartbeat = Callable[[], None]
"""Called before each file, each of which may take minutes to read."""


@dataclass(frozen=True, kw_only=True)
class PlannedVersions:
    """The versions that a generation was planned with: the learner's own and its opponents'."""

    trial_id: str
    player_id: str
    generation: int
    own: ModelVersion
    opponents: tuple[ModelVersion, ...]


@dataclass(frozen=True, kw_only=True)
class RollbackTarget:
    """The version to continue from, and the ids of newer versions that are damaged too."""

    version: ModelVersion
    skipped: tuple[str, ...]


def roll_back(
    session: Session,
    artifacts: ArtifactStore,
    planned: PlannedVersions,
    *,
    problem: str,
    heartbeat: Heartbeat = lambda: None,
) -> None:
    """Handle the damaged checkpoints of a planned generation; if all files are intact, nothing changes.

    The learner goes back to its last good version. A frozen player with damaged weights retires. Another learner's
    damaged version is avoided until that learner has a newer one.
    """
    versions = {version.id: version for version in (planned.own, *planned.opponents)}
    # before the lock: reading files takes minutes where they are large
    damaged = _damaged(artifacts, list(versions.values()), problem, heartbeat)
    if not damaged:
        return
    target = _rollback_target(session, artifacts, planned, damaged, problem, heartbeat)
    trial = lock_trial(session, planned.trial_id)
    player = player_of(session, planned.trial_id, planned.player_id)
    events: list[NewEvent] = []
    for version in damaged:
        owner = player_of(session, planned.trial_id, version.player_id)
        about = {
            "sha256": version.sha256,
            "problem": problem,
            "met_by": player.name,
            "generation": planned.generation,
        }
        if owner.id == player.id:
            events += _go_back(session, trial, player, version, target, about)
        elif owner.role is Role.HISTORICAL:
            events += _retire(session, trial, owner, version, about)
        else:
            events += _avoid(session, player, owner, version, about)
    append_events(session, events)


def _damaged(
    artifacts: ArtifactStore, versions: Sequence[ModelVersion], problem: str, heartbeat: Heartbeat
) -> list[ModelVersion]:
    """The damaged versions. Files that the problem names are read; of the others only the size is checked.

    If the problem names no file, all are read.
    """
    files = {version.sha256: checkpoint_of(version) for version in versions}  # a snapshot has the file of its learner
    named = {sha256 for sha256 in files if sha256 is not None and sha256 in problem}
    damaged = {
        sha256
        for sha256, checkpoint in files.items()
        if checkpoint and _is_damaged(artifacts, checkpoint, problem, heartbeat, read=not named or sha256 in named)
    }
    return [version for version in versions if version.sha256 in damaged]


def _is_damaged(
    artifacts: ArtifactStore, checkpoint: CheckpointRef, problem: str, heartbeat: Heartbeat, *, read: bool
) -> bool:
    heartbeat()
    if is_called_unreadable(checkpoint.sha256, problem):
        return True
    return not (checkpoint_is_intact(artifacts, checkpoint) if read else artifacts.has_expected_size(checkpoint))


def _rollback_target(
    session: Session,
    artifacts: ArtifactStore,
    planned: PlannedVersions,
    damaged: Sequence[ModelVersion],
    problem: str,
    heartbeat: Heartbeat,
) -> RollbackTarget | None:
    """The version that the learner goes back to; None if its own is intact or it has gone back already."""
    own = planned.own
    player = player_of(session, planned.trial_id, planned.player_id)
    if own not in damaged or playing_version(session, player).id != own.id:
        return None
    named = {version.sha256 for version in damaged if is_called_unreadable(str(version.sha256), problem)}
    unreadable = named | unreadable_sha256(session, planned.trial_id)
    return _last_good(session, artifacts, player, own, unreadable, heartbeat)


def _go_back(
    session: Session,
    trial: Trial,
    player: Player,
    damaged: ModelVersion,
    target: RollbackTarget | None,
    about: dict[str, Any],
) -> list[NewEvent]:
    if target is None or playing_version(session, player).id != damaged.id:
        return []  # the player was rolled back before
    good, skipped = target.version, list(target.skipped)
    reason = f"version {damaged.number} of {player.name} is damaged; it goes on from version {good.number}"
    evidence = {**about, "from": damaged.id, "to": good.id, "skipped": skipped}
    subject = Subject(trial_id=trial.id, player_id=player.id, generation=about["generation"], version_id=damaged.id)
    verdict = Decision(kind=DecisionKind.ROLLBACK, verdict=ROLLED_BACK, reason=reason, evidence=evidence)
    return [_roll_back_player(session, trial, player, good, subject, verdict)]


def _roll_back_player(
    session: Session, trial: Trial, player: Player, source: ModelVersion, subject: Subject, verdict: Decision
) -> NewEvent:
    """Add a newest version with the weights of a good one; the subject names the damaged version."""
    number = playing_version(session, player).number + 1
    commit = take_commit(session, trial, CommitKind.ROLLBACK)
    version = copy_version(session, player, source, VersionOrigin.ROLLBACK, commit, number=number)
    record_decision(session, subject, verdict, commit)
    payload = PlayerRolledBack(**version_payload(player, version), reason=verdict.reason)
    return NewEvent(trial_id=trial.id, payload=payload)


def _last_good(
    session: Session,
    artifacts: ArtifactStore,
    player: Player,
    damaged: ModelVersion,
    unreadable: Container[str | None],
    heartbeat: Heartbeat,
) -> RollbackTarget:
    """The newest version with an intact file, and the ones skipped; the last resort is the player's first version."""
    older = session.scalars(
        select(ModelVersion)
        .where(ModelVersion.player_id == player.id, ModelVersion.number < damaged.number, ~is_pruned())
        .order_by(ModelVersion.number.desc())
    )
    skipped: list[str] = []
    for version in [*older, origin_version(session, player)]:
        heartbeat()
        if version.sha256 not in unreadable and version_is_intact(artifacts, version):
            return RollbackTarget(version=version, skipped=tuple(skipped))
        skipped.append(version.id)
    raise Conflict(f"{player.name} has no undamaged version left to go back to; restore its files, then resume")


def _retire(
    session: Session, trial: Trial, owner: Player, version: ModelVersion, about: dict[str, Any]
) -> list[NewEvent]:
    """A frozen player has no other version, so it retires."""
    if owner.status is PlayerStatus.RETIRED:
        return []
    reason = f"the checkpoint of {owner.name} is damaged and a frozen player has no other"
    commit = take_commit(session, trial, CommitKind.ROSTER)
    _record(session, owner, version, RETIRED, reason, about, commit)
    return [retire_player(session, owner, reason, commit), _event(owner, RETIRED, version, reason, about)]


def _avoid(
    session: Session, player: Player, owner: Player, version: ModelVersion, about: dict[str, Any]
) -> list[NewEvent]:
    """Another learner may be training from these weights in memory, so it keeps its version."""
    subject = Subject(trial_id=player.trial_id, player_id=player.id, version_id=version.id)
    if find_decision(session, subject, DecisionKind.ROLLBACK) is not None:
        return []
    reason = f"version {version.number} of {owner.name} is damaged; {player.name} avoids it until there is a newer one"
    _record(session, player, version, AVOIDED, reason, about, None)
    return [_event(player, AVOIDED, version, reason, about)]


def _record(
    session: Session,
    player: Player,
    version: ModelVersion,
    verdict: str,
    reason: str,
    about: dict[str, Any],
    commit: int | None,
) -> None:
    subject = Subject(trial_id=player.trial_id, player_id=player.id, version_id=version.id)
    decision = Decision(kind=DecisionKind.ROLLBACK, verdict=verdict, reason=reason, evidence=about)
    record_decision(session, subject, decision, commit)


def _event(player: Player, verdict: str, version: ModelVersion, reason: str, about: dict[str, Any]) -> NewEvent:
    payload = CheckpointDamaged(
        player_id=player.id,
        player=player.name,
        verdict=verdict,
        version_id=version.id,
        reason=reason,
        problem=about["problem"],
    )
    return NewEvent(trial_id=player.trial_id, payload=payload)
