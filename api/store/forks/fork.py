"""Forks a trial: creates a new trial from any commit of another. Weights are shared by reference.

See docs/decisions/trials.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, text
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, PlayerStatus, VersionOrigin
from api.schemas.events import ForkOrigin, PlayerRetired, PlayerRetuned, TrialCreated, TrialForked
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.forks.at_commit import PlayerAtCommit, players_at, trial_steps_at
from api.store.payoffs.cells import upsert_cells
from api.store.payoffs.replay import replay_payoff
from api.store.players.pruned import refuse_pruned
from api.store.ratings.bradley_terry import fit_ratings
from api.store.ratings.online import rate_online
from api.store.tables import Commit, ModelVersion, Player, RatingFit, Trial
from api.store.trials.names import refuse_former_name
from api.store.trials.spec import spec_of
from league.types import Role
from orchestrator.spec import TrialSpec
from orchestrator.spec.players import EXPLOITERS, allows_exploiters
from orchestrator.spec.reading.changes import merge_changes
from orchestrator.spec.reading.checking import check_spec


@dataclass(frozen=True, kw_only=True)
class _Copy:
    """A player of the origin as of the fork's commit, and the id of its copy."""

    then: PlayerAtCommit
    id: str


def fork_trial(
    session: Session,
    source_id: str,
    *,
    name: str,
    at_commit: int | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Trial:
    """A pending trial that starts from the state of another one after a commit (by default the newest).

    `changes` are merged into the origin's trial file, option by option; game, model and players stay.
    """
    source = session.get(Trial, source_id)
    if source is None:
        raise NotFound(f"there is no trial {source_id}")
    commit = _checked_commit(source, at_commit)
    members = players_at(session, source, commit)
    refuse_pruned(session, *(member.version.id for member in members))
    spec = _changed(source, changes or {}, members)
    fork = _add_trial(session, source, name, spec, commit)
    # ids ascend, so that the copies keep the order of their origins
    copies = {member.player.id: _Copy(then=member, id=new_id()) for member in members}
    _add_players(session, fork, copies)
    _add_versions(session, fork, copies)
    cells = replay_payoff(session, fork.id)
    if cells:
        upsert_cells(session, fork.id, cells)
    # no game may be added while the ratings that include the fork's versions are fitted
    session.execute(text("LOCK TABLE matches IN SHARE MODE"))
    fit_id = fit_ratings(session, fork.project_id, fork.game)
    if fit_id is not None:
        rate_online(session, session.get_one(RatingFit, fit_id))
    append_events(session, [*_events(source, fork, commit), *_members_events(fork, copies)])
    return fork


def without_default_options(origin: TrialSpec, changes: Mapping[str, Any], defaults: Collection[str]) -> dict[str, Any]:
    """The changes without options of an own game that say its defaults, which the origin leaves out."""
    kept = dict(changes)
    options = changes.get("game")
    if isinstance(options, Mapping):
        left_out = set(defaults) - origin.game.to_json().keys()
        kept["game"] = {name: value for name, value in options.items() if name not in left_out}
    return kept


def _checked_commit(source: Trial, at_commit: int | None) -> int:
    commit = source.last_commit if at_commit is None else at_commit
    if not 0 <= commit <= source.last_commit:
        raise Conflict(f"trial {source.name!r} has commits 0 to {source.last_commit}, not {commit}")
    return commit


def _changed(source: Trial, changes: Mapping[str, Any], members: list[PlayerAtCommit]) -> TrialSpec:
    """The fork's trial file; raises InvalidTrial for changes that no trial file allows."""
    origin = spec_of(source)
    spec = check_spec(merge_changes(origin.to_json(), changes))
    for part, before, after in (
        ("game", origin.game, spec.game),
        ("model", origin.model, spec.model),
        ("league.players", origin.league.players, spec.league.players),
    ):
        if before != after:
            raise Conflict(f"a fork keeps its origin's {part}; start a new trial, or change players once it runs")
    roles = {member.player.role for member in members if not member.retired}
    if roles & set(EXPLOITERS) and not allows_exploiters(spec.league.preset):
        raise Conflict(f"the preset {spec.league.preset} has no rule for the exploiters of this league (alphastar has)")
    return spec


def _add_trial(session: Session, source: Trial, name: str, spec: TrialSpec, commit: int) -> Trial:
    trial_id = session.scalar(
        upsert(Trial)
        .values(
            id=new_id(),
            project_id=source.project_id,
            name=name,
            game=source.game,
            seed=spec.seed,
            spec=spec.to_json(),
            payoff_decay=spec.league.payoff.decay,
            priority=spec.priority,
            quota=spec.quota,
            steps=trial_steps_at(session, source, commit),
            forked_from_trial_id=source.id,
            forked_at_commit=commit,
        )
        .on_conflict_do_nothing(index_elements=[Trial.project_id, Trial.name])
        .returning(Trial.id)
    )
    if trial_id is None:
        raise Conflict(f"the project already has a trial named {name!r}")
    fork = session.get_one(Trial, trial_id)
    refuse_former_name(session, fork)
    session.execute(insert(Commit).values(trial_id=trial_id, number=0, kind=CommitKind.CREATED))
    return fork


def _add_players(session: Session, fork: Trial, copies: Mapping[str, _Copy]) -> None:
    rows = [
        {
            "id": copy.id,
            "trial_id": fork.id,
            "name": copy.then.player.name,
            "role": copy.then.player.role,
            "bot": copy.then.player.bot,
            "rating_only": copy.then.player.rating_only,
            "parent_id": None if copy.then.player.parent_id is None else copies[copy.then.player.parent_id].id,
            "forked_from_player_id": copy.then.player.id,
            "population": copy.then.player.population,
            "hyperparameters": copy.then.hyperparameters,
            "algorithm": copy.then.player.algorithm,
            "model": copy.then.player.model,
            "created_commit": 0,
            "generation": copy.then.generation,
            "steps": copy.then.steps,
            "steps_at_snapshot": copy.then.steps_at_snapshot,
            "status": PlayerStatus.RETIRED if copy.then.retired else PlayerStatus.ACTIVE,
            "retired_at": copy.then.player.retired_at if copy.then.retired else None,
        }
        for copy in copies.values()
    ]
    # parents before their snapshots
    for row in sorted(rows, key=lambda row: row["parent_id"] is not None):
        session.execute(insert(Player).values(row))


def _add_versions(session: Session, fork: Trial, copies: Mapping[str, _Copy]) -> None:
    rows = []
    for copy in copies.values():
        version = copy.then.version
        is_bot = copy.then.player.role is Role.BOT
        rows.append(
            {
                "id": new_id(),
                "trial_id": fork.id,
                "player_id": copy.id,
                "number": version.number,
                "origin": VersionOrigin.BOT if is_bot else VersionOrigin.FORK,
                "parent_id": None if is_bot else version.id,
                "steps": version.steps,
                "uri": version.uri,
                "sha256": version.sha256,
                "size": version.size,
                "commit": 0,
            }
        )
    session.execute(insert(ModelVersion), rows)


def _events(source: Trial, fork: Trial, commit: int) -> list[NewEvent]:
    origin = ForkOrigin(from_trial_id=source.id, from_=source.name, at_commit=commit, to_trial_id=fork.id)
    return [
        NewEvent(trial_id=fork.id, payload=TrialCreated(name=fork.name, forked=origin)),
        NewEvent(trial_id=source.id, payload=TrialForked(name=fork.name, forked=origin)),
    ]


def _members_events(fork: Trial, copies: Mapping[str, _Copy]) -> list[NewEvent]:
    """Hyperparameters and retirements of the copies as events, where a fork of the fork reads them."""
    events = []
    for copy in copies.values():
        about: dict[str, Any] = {"player_id": copy.id, "player": copy.then.player.name, "commit": 0}
        if copy.then.player.role.learns and copy.then.hyperparameters:
            retuned = PlayerRetuned(**about, hyperparameters=copy.then.hyperparameters)
            events.append(NewEvent(trial_id=fork.id, payload=retuned))
        if copy.then.retired:
            retired = PlayerRetired(**about, reason="retired before the fork")
            events.append(NewEvent(trial_id=fork.id, payload=retired))
    return events
