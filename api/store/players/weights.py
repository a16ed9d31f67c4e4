"""Checkpoints of versions, and the weights that players start from."""

from __future__ import annotations

import json

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.core.errors import Conflict
from api.store.players.pruned import refuse_pruned
from api.store.players.versions import origin_version, present_version
from api.store.tables import ModelVersion, Player, Trial
from api.store.trials.spec import model_of, spec_of
from league.types import CheckpointRef
from orchestrator.spec import TrialSpec
from orchestrator.spec.components import Choice
from orchestrator.spec.values import is_id
from orchestrator.user_code.code_archives import plain_name


def checkpoint_of(version: ModelVersion) -> CheckpointRef | None:
    """The version's checkpoint; a bot has none."""
    if version.uri is None or version.sha256 is None or version.size is None:
        return None
    return CheckpointRef(uri=version.uri, sha256=version.sha256, size=version.size)


def weights_of(version: ModelVersion) -> CheckpointRef:
    """The checkpoint of a version; Conflict if it is a bot's."""
    checkpoint = checkpoint_of(version)
    if checkpoint is None:
        raise Conflict(f"version {version.id} is a bot's and has no weights")
    return checkpoint


def initial_weights(session: Session, trial: Trial) -> CheckpointRef | None:
    """The weights that the learning players of the trial's algorithm and model share; None until recorded or named.

    If each of them names its own weights, those of the first: players that are added later need initial weights, and no
    others are stored.
    """
    own = {player.name for player in spec_of(trial).league.members if player.weights is not None}
    everyone = session.scalars(
        select(Player)
        .where(Player.trial_id == trial.id, Player.algorithm.is_(None), Player.model.is_(None))
        .order_by(Player.created_commit, Player.id)
    ).all()
    learners = [each for each in everyone if each.role.learns and present_version(session, each.id) is not None]
    sharing = next((player for player in learners if player.name not in own), None)
    source = spec_of(trial).initial_weights
    if sharing is None and source is not None and is_id(source):
        return named_weights(session, trial, source, None)
    first = sharing or next(iter(learners), None)
    return None if first is None else weights_of(origin_version(session, first))


def named_weights(session: Session, trial: Trial, source: str, player: Player | None) -> CheckpointRef:
    """The weights of a version that a trial file names by its id, for a player, or for all of the trial's model.

    They must be of the same game and model.
    """
    version = session.get(ModelVersion, source) if is_id(source) else None
    if version is None:
        raise Conflict(f"weights {source!r} are no recorded version; import a file first and give its version's id")
    owner = session.get_one(Player, version.player_id)
    origin = session.get_one(Trial, version.trial_id)
    whose = f"trial {trial.name!r}" if player is None else f"player {player.name!r} of trial {trial.name!r}"
    if origin.game != trial.game:
        raise Conflict(f"version {source} was made for another game, {origin.game}, and cannot start {whose}")
    theirs = model_of(spec_of(origin), owner.model)
    wanted = model_of(spec_of(trial), None if player is None else player.model)
    if _text(theirs) != _text(wanted):
        raise Conflict(
            f"version {source} of {owner.name} was made for another model, {_text(theirs)}, and cannot start {whose}, "
            f"whose model is {_text(wanted)}"
        )
    refuse_pruned(session, version.id)
    return weights_of(version)


def recorded_weights(session: Session, spec: TrialSpec) -> dict[str, CheckpointRef]:
    """The checkpoints of the versions that a trial file names by their ids; ids of none are left out."""
    sources = {spec.initial_weights, *(player.weights for player in spec.league.players)}
    found = {each: session.get(ModelVersion, each.lower()) for each in sources if each is not None and is_id(each)}
    refs = {source: checkpoint_of(version) for source, version in found.items() if version is not None}
    return {source: ref for source, ref in refs.items() if ref is not None}


def _text(model: Choice) -> str:
    """The model as one text, without the archive of its code, which may have been edited: shapes are checked later."""
    return json.dumps({**model.to_json(), "id": plain_name(model.id)})
