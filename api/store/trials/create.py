"""Creates a trial with its players in one transaction."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, VersionOrigin
from api.schemas.events import PlayerRetuned, TrialCreated
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.tables import Commit, ModelVersion, Player, Trial
from api.store.trials.names import refuse_former_name
from api.store.trials.projects import ensure_project
from api.store.trials.spec import game_key
from league.types import Role
from orchestrator.populations import first_hyperparameters
from orchestrator.spec.trial import TrialSpec
from orchestrator.user_code.code_archives import plain_name


def create_trial(session: Session, *, project: str, name: str, spec: TrialSpec) -> Trial:
    """A pending trial as of commit 0, with the players its spec names; the caller starts its workflow."""
    trial, created = add_trial(session, project=project, name=name, spec=spec)
    append_events(session, created)
    return trial


def add_trial(
    session: Session, *, project: str, name: str, spec: TrialSpec, sweep_id: str | None = None
) -> tuple[Trial, list[NewEvent]]:
    """The same, with its events still to be written, which must come last in a transaction."""
    project_id = ensure_project(session, project)
    trial_id = session.scalar(
        upsert(Trial)
        .values(
            id=new_id(),
            project_id=project_id,
            name=name,
            game=game_key(spec.game),
            seed=spec.seed,
            spec=spec.model_dump(mode="json"),
            payoff_decay=spec.league.payoff.decay,
            sweep_id=sweep_id,
            priority=spec.priority,
            quota=spec.quota,
        )
        .on_conflict_do_nothing(index_elements=[Trial.project_id, Trial.name])
        .returning(Trial.id)
    )
    if trial_id is None:
        raise Conflict(f"project {project!r} already has a trial named {name!r}")
    trial = session.get_one(Trial, trial_id)
    refuse_former_name(session, trial)
    session.execute(insert(Commit).values(trial_id=trial_id, number=0, kind=CommitKind.CREATED))
    members = _add_players(session, trial_id, spec)
    payload = TrialCreated(project=project, name=name, game=plain_name(spec.game.id))
    return trial, [NewEvent(trial_id=trial_id, payload=payload), *members]


def _add_players(session: Session, trial_id: str, spec: TrialSpec) -> list[NewEvent]:
    """Add the players; returns the events that say with which hyperparameters the members of populations start."""
    first = first_hyperparameters(spec)
    players = [
        {
            "id": new_id(),
            "trial_id": trial_id,
            "name": player.name,
            "role": player.role,
            "bot": player.bot,
            "population": entry.name if entry.population is not None else None,
            "hyperparameters": first.get(player.name, {}),
            "algorithm": None if player.algorithm is None else player.algorithm.to_json(),
            "model": None if player.model is None else player.model.to_json(),
            "created_commit": 0,
        }
        for entry in spec.league.players
        for player in entry.members
    ]
    session.execute(insert(Player), players)
    # a bot has one version, so that tallies and matches can refer to it
    versions = [
        {
            "id": new_id(),
            "trial_id": trial_id,
            "player_id": player["id"],
            "number": 0,
            "origin": VersionOrigin.BOT,
            "steps": 0,
            "commit": 0,
        }
        for player in players
        if player["role"] is Role.BOT
    ]
    if versions:
        session.execute(insert(ModelVersion), versions)
    return [_starts_with(player, trial_id) for player in players if player["hyperparameters"]]


def _starts_with(player: dict[str, Any], trial_id: str) -> NewEvent:
    """A fork reads here which hyperparameters a player began with."""
    payload = PlayerRetuned(
        player_id=player["id"], player=player["name"], hyperparameters=player["hyperparameters"], commit=0
    )
    return NewEvent(trial_id=trial_id, payload=payload)
