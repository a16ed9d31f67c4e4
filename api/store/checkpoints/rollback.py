"""Going back from a damaged checkpoint to the last good one: a recorded, visible decision."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, PlayerStatus
from api.store.checkpoints.damaged import unreadable_sha256
from api.store.core.commits import lock_trial, take_commit
from api.store.core.decisions import Subject, find_decision, record_decision
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events
from api.store.generations.plan import PlannedGeneration, recorded_plan
from api.store.players.lifecycle import roll_back_player
from api.store.players.roster import player_of, retire_player
from api.store.players.weights import checkpoint_of, origin_version, playing_version
from api.store.tables import ModelVersion, Player, Trial
from league.types import CheckpointRef, Decision, DecisionKind, Role
from orchestrator.artifacts import ArtifactStore, DamagedArtifact, MissingArtifact, is_called_unreadable

ROLLED_BACK, RETIRED, AVOIDED = "rolled back", "retired", "avoided"
Alive = Callable[[], None]
"""Told before each file, each of which may take minutes to read."""


@dataclass(frozen=True, kw_only=True)
class Refuge:
    """The version to go on from, and the ids of newer ones that are damaged too."""

    version: ModelVersion
    skipped: tuple[str, ...]


def roll_back(
    session: Session,
    artifacts: ArtifactStore,
    *,
    trial_id: str,
    player_id: str,
    generation: int,
    attempt: int,
    problem: str,
    alive: Alive = lambda: None,
) -> None:
    """Deal with the damaged checkpoints of a plan, the learner's own or opponents'; sound ones change nothing.

    The learner goes back to its last good version, frozen players with damaged weights retire, and other
    learners' versions are avoided until these have moved on by themselves.
    """
    plan = recorded_plan(session, trial_id, player_id, generation, attempt)
    versions = {plan.version.id: plan.version} | {chosen.version.id: chosen.version for chosen in plan.opponents}
    # before the lock: reading files takes minutes where they are large
    damaged = _damaged(artifacts, list(versions.values()), problem, alive)
    if not damaged:
        return
    refuge = _refuge(session, artifacts, plan, damaged, problem, alive)
    trial = lock_trial(session, trial_id)
    player = player_of(session, trial_id, player_id)
    events: list[NewEvent] = []
    for version in damaged:
        owner = player_of(session, trial_id, version.player_id)
        about = {"sha256": version.sha256, "problem": problem, "met_by": player.name, "generation": generation}
        if owner.id == player_id:
            events += _go_back(session, trial, player, version, refuge, about)
        elif owner.role is Role.HISTORICAL:
            events += _retire(session, trial, owner, version, about)
        else:
            events += _avoid(session, player, owner, version, about)
    append_events(session, events)


def is_sound(artifacts: ArtifactStore, version: ModelVersion) -> bool:
    """Whether the version's file is there and is what was stored; an unreachable store raises."""
    checkpoint = checkpoint_of(version)
    return checkpoint is None or undamaged(artifacts, checkpoint)


def undamaged(artifacts: ArtifactStore, checkpoint: CheckpointRef) -> bool:
    """Whether the bytes at the reference hash to what it says."""
    try:
        artifacts.get(checkpoint)
    except (DamagedArtifact, MissingArtifact):
        return False
    return True


def _damaged(
    artifacts: ArtifactStore, versions: Sequence[ModelVersion], problem: str, alive: Alive
) -> list[ModelVersion]:
    """Which of them are damaged. Those that the problem names are read, the others looked at; all, if it names none."""
    files = {version.sha256: checkpoint_of(version) for version in versions}  # a snapshot shares its learner's
    named = {sha256 for sha256 in files if sha256 is not None and sha256 in problem}
    damaged = {
        sha256
        for sha256, checkpoint in files.items()
        if checkpoint and _is_damaged(artifacts, checkpoint, problem, alive, read=not named or sha256 in named)
    }
    return [version for version in versions if version.sha256 in damaged]


def _is_damaged(artifacts: ArtifactStore, checkpoint: CheckpointRef, problem: str, alive: Alive, *, read: bool) -> bool:
    alive()
    if is_called_unreadable(checkpoint.sha256, problem):
        return True
    return not (undamaged(artifacts, checkpoint) if read else artifacts.has_its_size(checkpoint))


def _refuge(
    session: Session,
    artifacts: ArtifactStore,
    plan: PlannedGeneration,
    damaged: Sequence[ModelVersion],
    problem: str,
    alive: Alive,
) -> Refuge | None:
    """Where the learner goes back to; None where it need not, or has gone already."""
    own = plan.version
    if own not in damaged or playing_version(session, plan.player).id != own.id:
        return None
    named = {version.sha256 for version in damaged if is_called_unreadable(str(version.sha256), problem)}
    unreadable = named | unreadable_sha256(session, plan.trial.id)
    return _last_good(session, artifacts, plan.player, own, unreadable, alive)


def _go_back(
    session: Session,
    trial: Trial,
    player: Player,
    damaged: ModelVersion,
    refuge: Refuge | None,
    about: dict[str, Any],
) -> list[NewEvent]:
    if refuge is None or playing_version(session, player).id != damaged.id:
        return []  # it has gone back already
    good, skipped = refuge.version, list(refuge.skipped)
    reason = f"version {damaged.number} of {player.name} is damaged; it goes on from version {good.number}"
    evidence = {**about, "from": damaged.id, "to": good.id, "skipped": skipped}
    subject = Subject(trial_id=trial.id, player_id=player.id, generation=about["generation"], version_id=damaged.id)
    verdict = Decision(kind=DecisionKind.ROLLBACK, verdict=ROLLED_BACK, reason=reason, evidence=evidence)
    return [roll_back_player(session, trial, player, good, subject, verdict)]


def _last_good(
    session: Session,
    artifacts: ArtifactStore,
    player: Player,
    damaged: ModelVersion,
    unreadable: Container[str | None],
    alive: Alive,
) -> Refuge:
    """The newest version with a sound file, and those passed over; at last what the player started from."""
    older = session.scalars(
        select(ModelVersion)
        .where(ModelVersion.player_id == player.id, ModelVersion.number < damaged.number)
        .order_by(ModelVersion.number.desc())
    )
    skipped: list[str] = []
    for version in [*older, origin_version(session, player)]:
        alive()
        if version.sha256 not in unreadable and is_sound(artifacts, version):
            return Refuge(version=version, skipped=tuple(skipped))
        skipped.append(version.id)
    raise Conflict(f"{player.name} has no undamaged version left to go back to; restore its files, then resume")


def _retire(
    session: Session, trial: Trial, owner: Player, version: ModelVersion, about: dict[str, Any]
) -> list[NewEvent]:
    """A frozen player has no other version, so it leaves the league."""
    if owner.status is PlayerStatus.RETIRED:
        return []
    reason = f"the checkpoint of {owner.name} is damaged and a frozen player has no other"
    commit = take_commit(session, trial, CommitKind.ROSTER)
    _record(session, owner, version, RETIRED, reason, about, commit)
    return [retire_player(session, owner, reason, commit), _event(owner, RETIRED, version, reason)]


def _avoid(
    session: Session, player: Player, owner: Player, version: ModelVersion, about: dict[str, Any]
) -> list[NewEvent]:
    """Another learner may be training from these weights, sound in its memory: it is not interfered with."""
    subject = Subject(trial_id=player.trial_id, player_id=player.id, version_id=version.id)
    if find_decision(session, subject, DecisionKind.ROLLBACK) is not None:
        return []
    reason = f"version {version.number} of {owner.name} is damaged; {player.name} meets another until it moves on"
    _record(session, player, version, AVOIDED, reason, about, None)
    return [_event(player, AVOIDED, version, reason)]


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


def _event(player: Player, verdict: str, version: ModelVersion, reason: str) -> NewEvent:
    payload = {
        "player_id": player.id,
        "player": player.name,
        "verdict": verdict,
        "version_id": version.id,
        "reason": reason,
    }
    return NewEvent(type="checkpoint.damaged", trial_id=player.trial_id, payload=payload)
