"""The state of a trial after one of its commits, read from append-only rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from api.schemas.events import PlayerAdded, PlayerCopied, PlayerRetired, PlayerRetuned
from api.store.core.errors import Conflict
from api.store.players.roster import players_of
from api.store.tables import Event, Generation, ModelVersion, Player, Trial


@dataclass(frozen=True, kw_only=True)
class PlayerAtCommit:
    """A player as of a commit."""

    player: Player
    version: ModelVersion
    generation: int
    steps: int
    steps_at_snapshot: int
    hyperparameters: dict[str, Any]
    retired: bool


def players_at(session: Session, trial: Trial, commit: int) -> list[PlayerAtCommit]:
    """The players of a league as of a commit."""
    versions = versions_at(session, trial.id, commit)
    retired = _newest_payloads(session, trial.id, (PlayerRetired.KIND,), commit)
    tuned = hyperparameters_at(session, trial.id, commit)
    players = [player for player in players_of(session, trial.id) if player.created_commit <= commit]
    frozen_steps = _frozen_steps(players, versions)
    members = []
    for player in players:
        if player.id not in versions:
            raise Conflict(f"{player.name} has no version as of commit {commit}; the trial had not begun")
        version = versions[player.id]
        members.append(
            PlayerAtCommit(
                player=player,
                version=version,
                generation=generation_at(session, trial, player, commit),
                steps=version.steps,
                steps_at_snapshot=frozen_steps.get(player.id, 0),
                hyperparameters=_hyperparameters(player, tuned),
                retired=player.id in retired,
            )
        )
    return members


def hyperparameters_at(session: Session, trial_id: str, commit: int) -> dict[str, dict[str, Any]]:
    """The own hyperparameters of the players that had any as of a commit, by player."""
    kinds = (PlayerAdded.KIND, PlayerRetuned.KIND, PlayerCopied.KIND)
    newest = _newest_payloads(session, trial_id, kinds, commit)
    return {player: payload["hyperparameters"] for player, payload in newest.items()}


def versions_at(session: Session, trial_id: str, commit: int) -> dict[str, ModelVersion]:
    """Each player's present version as of a commit."""
    newest = (
        select(ModelVersion)
        .ext(distinct_on(ModelVersion.player_id))
        .where(ModelVersion.trial_id == trial_id, ModelVersion.commit <= commit)
        .order_by(ModelVersion.player_id, ModelVersion.number.desc())
    )
    return {version.player_id: version for version in session.scalars(newest)}


def generation_at(session: Session, trial: Trial, player: Player, commit: int) -> int:
    """The player's newest generation as of a commit; a fork continues the count of its origin."""
    newest = session.scalar(
        select(func.max(Generation.number)).where(Generation.player_id == player.id, Generation.commit <= commit)
    )
    return first_generation(session, trial, player) if newest is None else newest


def first_generation(session: Session, trial: Trial, player: Player) -> int:
    """The generation that the player had when it entered this trial: 0, or that of its origin at the fork."""
    if player.forked_from_player_id is None or trial.forked_from_trial_id is None or trial.forked_at_commit is None:
        return 0
    origin = session.get_one(Trial, trial.forked_from_trial_id)
    elder = session.get_one(Player, player.forked_from_player_id)
    return generation_at(session, origin, elder, trial.forked_at_commit)


def trial_steps_at(session: Session, trial: Trial, commit: int) -> int:
    """Steps of all players as of a commit, those before a fork included."""
    own = session.scalar(
        select(func.coalesce(func.sum(Generation.steps), 0)).where(
            Generation.trial_id == trial.id, Generation.commit <= commit
        )
    )
    return int(own or 0) + first_steps(session, trial)


def first_steps(session: Session, trial: Trial) -> int:
    """The steps that a fork began with."""
    if trial.forked_from_trial_id is None or trial.forked_at_commit is None:
        return 0
    return trial_steps_at(session, session.get_one(Trial, trial.forked_from_trial_id), trial.forked_at_commit)


def _newest_payloads(session: Session, trial_id: str, types: tuple[str, ...], commit: int) -> dict[str, dict[str, Any]]:
    """The payload of each player's newest event of these types, as of a commit."""
    events = session.scalars(
        select(Event.payload)
        .where(Event.trial_id == trial_id, Event.type.in_(types), Event.payload["commit"].as_integer() <= commit)
        .order_by(Event.id)
    )
    return {payload["player_id"]: payload for payload in events}


def _hyperparameters(player: Player, tuned: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The hyperparameters of the newest change; a learner starts without any, and other players never change."""
    if not player.role.learns:
        return dict(player.hyperparameters)
    return dict(tuned.get(player.id, {}))


def _frozen_steps(players: list[Player], versions: dict[str, ModelVersion]) -> dict[str, int]:
    """The steps at which each player was last frozen, from its snapshots."""
    steps: dict[str, int] = {}
    for player in players:
        if player.parent_id is not None and player.id in versions:
            steps[player.parent_id] = max(steps.get(player.parent_id, 0), versions[player.id].steps)
    return steps
