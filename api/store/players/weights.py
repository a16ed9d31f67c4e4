"""Checkpoints of versions, and the weights that players start from."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.store.core.errors import Conflict
from api.store.players.versions import origin_version, present_version
from api.store.tables import ModelVersion, Player, Trial
from api.store.trials.spec import spec_of
from league.types import CheckpointRef
from orchestrator.spec.values import is_id


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
    """The weights that the trial's learning players share at first; None until they are recorded or named.

    If each of them names its own weights, those of the first: players that are added later need initial weights, and no
    others are stored.
    """
    own = {player.name for player in spec_of(trial).league.players if player.weights is not None}
    everyone = session.scalars(
        select(Player).where(Player.trial_id == trial.id).order_by(Player.created_commit, Player.id)
    ).all()
    learners = [each for each in everyone if each.role.learns and present_version(session, each.id) is not None]
    sharing = next((player for player in learners if player.name not in own), None)
    source = spec_of(trial).initial_weights
    if sharing is None and source is not None and is_id(source):
        return named_weights(session, trial, source)
    first = sharing or next(iter(learners), None)
    return None if first is None else weights_of(origin_version(session, first))


def named_weights(session: Session, trial: Trial, source: str) -> CheckpointRef:
    """The weights of a version that a trial file names by its id; they must fit the trial's game and model."""
    version = session.get(ModelVersion, source) if is_id(source) else None
    if version is None:
        raise Conflict(f"weights {source!r} are no recorded version; import a file first and give its version's id")
    origin = session.get_one(Trial, version.trial_id)
    if (origin.game, spec_of(origin).model) != (trial.game, spec_of(trial).model):
        raise Conflict(f"version {source} was made for another game or model and cannot start trial {trial.name!r}")
    return weights_of(version)
