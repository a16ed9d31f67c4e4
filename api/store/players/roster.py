"""The roster of a league: players get first versions, are added, retired and retuned."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.schemas.enums import CommitKind, PlayerStatus
from api.schemas.events import PlayerAdded, PlayerRetired, PlayerRetuned, VersionRecorded
from api.store.core.clock import now
from api.store.core.commits import lock_trial, take_commit
from api.store.core.errors import Conflict, NotFound
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.players.versions import first_version, present_version
from api.store.players.weights import initial_weights, named_weights
from api.store.tables import Event, ModelVersion, Player, Trial
from api.store.trials.spec import algorithm_of, spec_of
from league.matchmaking import Member
from league.types import CheckpointRef, PlayerId, Role
from orchestrator.spec.players import EXPLOITERS, PlayerSpec, allows_exploiters
from orchestrator.spec.reading.checking import check_player


def players_of(session: Session, trial_id: str) -> Sequence[Player]:
    """Every player of the trial in order of creation: ids of one commit ascend."""
    query = select(Player).where(Player.trial_id == trial_id).order_by(Player.created_commit, Player.id)
    return session.scalars(query.execution_options(populate_existing=True)).all()


def player_of(session: Session, trial_id: str, player_id: str) -> Player:
    """One player of the trial, read again."""
    player = session.get(Player, player_id, populate_existing=True)
    if player is None or player.trial_id != trial_id:
        raise NotFound(f"there is no player {player_id} in trial {trial_id}")
    return player


def player_named(session: Session, trial_id: str, name: str) -> Player:
    """The player of this name."""
    player = session.scalar(select(Player).where(Player.trial_id == trial_id, Player.name == name))
    if player is None:
        raise NotFound(f"there is no player named {name!r} in trial {trial_id}")
    return player


def roster_of(session: Session, trial_id: str, *, playable: Container[str] | None = None) -> list[Member]:
    """The roster as the league's rules read it; with `playable`, only those can be chosen."""
    return [
        Member(
            id=PlayerId(player.id),
            role=player.role,
            created=place,
            parent=None if player.parent_id is None else PlayerId(player.parent_id),
            active=(
                player.status is PlayerStatus.ACTIVE
                and not player.rating_only
                and (playable is None or player.id in playable)
            ),
            name=player.name,
        )
        for place, player in enumerate(players_of(session, trial_id))
    ]


def enter_players(
    session: Session, trial_id: str, initial: CheckpointRef, own: Mapping[str, CheckpointRef] | None = None
) -> None:
    """Give every player without a version its first one; `own` has weights of players that do not share `initial`."""
    trial = lock_trial(session, trial_id)
    spec = spec_of(trial)
    named = {player.name: player.weights for player in spec.league.members if player.weights is not None}
    entered = []
    for player in players_of(session, trial_id):
        if present_version(session, player.id) is not None:
            continue
        source = named.get(player.name)
        shared = (own or {}).get(player.id, initial)
        weights = shared if source is None else named_weights(session, trial, source, player)
        imported = source is not None or (spec.initial_weights is not None and player.id not in (own or {}))
        entered.append((player, first_version(session, player, weights, imported=imported)))
    _enter_target(session, trial)
    append_events(session, [_entered(player, version) for player, version in entered])


def find_target(session: Session, trial: Trial) -> Player | None:
    """The target: the player that the trial's budget says to beat; None without such a budget."""
    until = spec_of(trial).budget.until
    if until is None:
        return None
    players = players_of(session, trial.id)
    by_name = (player for player in players if player.name == until.opponent)
    by_bot = (player for player in players if player.bot == until.opponent)
    return next(by_name, None) or next(by_bot, None)


def add_player(
    session: Session,
    trial_id: str,
    key: str,
    *,
    name: str,
    role: Role,
    bot: str | None = None,
    hyperparameters: dict[str, Any] | None = None,
    algorithm: dict[str, Any] | None = None,
    model: dict[str, Any] | None = None,
    initial: CheckpointRef | None = None,
) -> Player:
    """A new player with its first version, or the one that was added with the same key.

    `algorithm` and `model` are its own, None the trial's; `initial` are its weights, None those that are shared.
    """
    trial = lock_trial(session, trial_id)
    known = _added_by(session, trial_id, key)
    if known is not None:
        return player_of(session, trial_id, known)
    newcomer = check_player({"name": name, "role": role.value, "bot": bot, "algorithm": algorithm, "model": model})
    _check_newcomer(session, trial, newcomer, hyperparameters or {})
    weights = initial or initial_weights(session, trial)
    if weights is None:
        raise Conflict(f"trial {trial.name!r} has no initial weights yet; add players once it has begun")
    player = Player(
        id=new_id(),
        trial_id=trial_id,
        name=name,
        role=role,
        bot=bot,
        hyperparameters=hyperparameters or {},
        algorithm=None if newcomer.algorithm is None else newcomer.algorithm.to_json(),
        model=None if newcomer.model is None else newcomer.model.to_json(),
        created_commit=take_commit(session, trial, CommitKind.ROSTER),
    )
    session.add(player)
    session.flush()
    first_version(session, player, weights)
    trial.revision += 1
    added = PlayerAdded(
        player_id=player.id,
        player=name,
        key=key,
        role=role,
        commit=player.created_commit,
        hyperparameters=player.hyperparameters,
    )
    append_events(session, [NewEvent(trial_id=trial_id, payload=added)])
    return player


def change_player(
    session: Session, trial_id: str, player_id: str, *, retire: bool, hyperparameters: dict[str, Any] | None
) -> Player:
    """Retire the player, or replace its hyperparameters from the next plan on. Present values change nothing."""
    trial = lock_trial(session, trial_id)
    player = player_of(session, trial_id, player_id)
    retires = retire and player.status is PlayerStatus.ACTIVE
    retunes = hyperparameters is not None and hyperparameters != player.hyperparameters
    if not (retires or retunes):
        return player
    commit = take_commit(session, trial, CommitKind.ROSTER)
    events = []
    if retires:
        events.append(retire_player(session, player, "on request", commit))
    if retunes and hyperparameters is not None:
        if not player.role.learns:
            raise Conflict(f"{player.name} is {player.role} and does not learn: it has no hyperparameters")
        algorithm_of(spec_of(trial), player.algorithm, hyperparameters)
        player.hyperparameters = hyperparameters
        retuned = PlayerRetuned(player_id=player.id, player=player.name, hyperparameters=hyperparameters, commit=commit)
        events.append(NewEvent(trial_id=trial_id, payload=retuned))
    player.revision += 1
    append_events(session, events)
    return player


def retire_player(session: Session, player: Player, reason: str, commit: int) -> NewEvent:
    """Mark the player retired; returns its event."""
    moment = now(session)
    player.status, player.retired_at = PlayerStatus.RETIRED, moment
    payload = PlayerRetired(player_id=player.id, player=player.name, reason=reason, commit=commit)
    return NewEvent(trial_id=player.trial_id, payload=payload)


def _enter_target(session: Session, trial: Trial) -> None:
    """Add the target bot as a player that matchmaking never chooses, since games are between players."""
    until = spec_of(trial).budget.until
    if until is None or find_target(session, trial) is not None:
        return
    bot = Player(
        id=new_id(),
        trial_id=trial.id,
        name=until.opponent,
        role=Role.BOT,
        bot=until.opponent,
        rating_only=True,
        created_commit=0,
    )
    session.add(bot)
    session.flush()
    first_version(session, bot, None)


def _added_by(session: Session, trial_id: str, key: str) -> str | None:
    return session.scalar(
        select(Event.payload["player_id"].astext).where(
            Event.trial_id == trial_id, Event.type == PlayerAdded.KIND, Event.payload["key"].astext == key
        )
    )


def _check_newcomer(session: Session, trial: Trial, newcomer: PlayerSpec, hyperparameters: dict[str, Any]) -> None:
    spec, role, name = spec_of(trial), newcomer.role, newcomer.name
    if role in EXPLOITERS and not allows_exploiters(spec.league.preset):
        raise Conflict(f"the preset {spec.league.preset} has no rule for the role {role} (alphastar has)")
    if hyperparameters and not role.learns:
        raise Conflict(f"a player of role {role} does not learn: it has no hyperparameters")
    algorithm_of(spec, None if newcomer.algorithm is None else newcomer.algorithm.to_json(), hyperparameters)
    taken = session.scalar(select(Player.id).where(Player.trial_id == trial.id, Player.name == name))
    if taken is not None:
        raise Conflict(f"trial {trial.name!r} already has a player named {name!r}")


def _entered(player: Player, version: ModelVersion) -> NewEvent:
    payload = VersionRecorded(player_id=player.id, player=player.name, version_id=version.id, origin=version.origin)
    return NewEvent(trial_id=player.trial_id, payload=payload)
