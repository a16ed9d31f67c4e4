"""Trials: made with their players in one transaction, and moved from status to status."""

from __future__ import annotations

import json

from sqlalchemy import func, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, TrialStatus, VersionOrigin
from api.store.core.commits import lock_trial
from api.store.core.errors import Conflict
from api.store.core.events import NewEvent, append_events, append_once, is_told
from api.store.core.ids import new_id
from api.store.tables import Commit, ModelVersion, Player, Project, Trial
from league.types import Role
from orchestrator.spec.components import Choice
from orchestrator.spec.trial import TrialSpec

STATUS_EVENT = "trial.status"
_ENDS = frozenset({TrialStatus.STOPPING, TrialStatus.STOPPED, TrialStatus.COMPLETED, TrialStatus.FAILED})
TRANSITIONS: dict[TrialStatus, frozenset[TrialStatus]] = {
    TrialStatus.PENDING: frozenset({TrialStatus.RUNNING, TrialStatus.PAUSED}) | _ENDS,
    TrialStatus.RUNNING: frozenset({TrialStatus.PAUSING, TrialStatus.PAUSED}) | _ENDS,
    TrialStatus.PAUSING: frozenset({TrialStatus.PAUSED, TrialStatus.RUNNING}) | _ENDS,
    TrialStatus.PAUSED: frozenset({TrialStatus.RUNNING}) | _ENDS,
    TrialStatus.STOPPING: _ENDS - {TrialStatus.STOPPING},
    TrialStatus.STOPPED: frozenset(),
    TrialStatus.COMPLETED: frozenset(),
    TrialStatus.FAILED: frozenset(),
}
"""From which status a trial may go to which; the last three are the end."""


def game_key(game: Choice) -> str:
    """The game with its options as one text: what must be equal for two versions to meet."""
    options = game.model_dump(mode="json", exclude={"id"})
    if not options:
        return game.id
    return f"{game.id} {json.dumps(options, sort_keys=True, separators=(',', ':'))}"


def create_trial(session: Session, *, project: str, name: str, spec: TrialSpec) -> Trial:
    """A pending trial as of commit 0, with the players its spec names; its workflow is started by the caller."""
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
        )
        .on_conflict_do_nothing(index_elements=[Trial.project_id, Trial.name])
        .returning(Trial.id)
    )
    if trial_id is None:
        raise Conflict(f"project {project!r} already has a trial named {name!r}")
    session.execute(insert(Commit).values(trial_id=trial_id, number=0, kind=CommitKind.CREATED))
    _add_players(session, trial_id, spec)
    payload = {"project": project, "name": name, "game": spec.game.id}
    append_events(session, [NewEvent(type="trial.created", trial_id=trial_id, payload=payload)])
    return session.get_one(Trial, trial_id)


def ensure_project(session: Session, name: str) -> str:
    """The id of the project of this name, which is made if there is none."""
    session.execute(upsert(Project).values(id=new_id(), name=name).on_conflict_do_nothing())
    return session.scalars(select(Project.id).where(Project.name == name)).one()


def change_status(
    session: Session, trial_id: str, status: TrialStatus, reason: str | None = None, *, order: str | None = None
) -> Trial:
    """Move the trial on. The status it already has is no change; one it cannot reach is a conflict.

    The event names the order that asked for it, also where there was nothing to change: see `was_carried_out`.
    """
    trial = lock_trial(session, trial_id)
    if trial.status is status:
        if order is not None:
            _tell_status(session, trial, status, reason, order)
        return trial
    if status not in TRANSITIONS[trial.status]:
        allowed = ", ".join(sorted(TRANSITIONS[trial.status])) or "nothing, it is the end"
        raise Conflict(f"trial {trial.name!r} is {trial.status} and cannot become {status}; allowed: {allowed}")
    now = session.scalars(select(func.now())).one()
    before, trial.status, trial.status_reason = trial.status, status, reason
    trial.revision += 1
    if status is TrialStatus.RUNNING and trial.started_at is None:
        trial.started_at = now
    if status.is_final:
        trial.finished_at = now
    _tell_status(session, trial, before, reason, order)
    return trial


def was_carried_out(session: Session, trial_id: str, order: str) -> bool:
    """Whether an order to change the trial's status has been carried out, whatever the status is by now."""
    return is_told(session, trial_id, STATUS_EVENT, order)


def _tell_status(session: Session, trial: Trial, before: TrialStatus, reason: str | None, order: str | None) -> None:
    payload = {"from": before, "to": trial.status, "reason": reason}
    event = NewEvent(type=STATUS_EVENT, trial_id=trial.id, payload=payload)
    if order is None:
        append_events(session, [event])
    else:
        append_once(session, event, order)


def _add_players(session: Session, trial_id: str, spec: TrialSpec) -> None:
    players = [
        {
            "id": new_id(),
            "trial_id": trial_id,
            "name": player.name,
            "role": player.role,
            "bot": player.bot,
            "created_commit": 0,
        }
        for player in spec.league.players
    ]
    session.execute(insert(Player), players)
    # a bot has one version for ever, so that tallies and matches can name it like any other
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
