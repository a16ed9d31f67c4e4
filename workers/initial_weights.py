"""The weights that a trial's learning players start from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from league.types import CheckpointRef
from orchestrator.contracts.trials import InitialWeightsRequest
from orchestrator.spec.judgement import too_many_teams
from orchestrator.storage.artifacts import ArtifactStore
from orchestrator.user_code.import_folders import find_import
from workers.algorithms.building import fresh_weights
from workers.checkpoints import Checkpoint, check_weights, read_weights, save
from workers.games.errors import BadGame
from workers.games.names import make_new_game


def initial_weights(
    store: ArtifactStore, request: InitialWeightsRequest, folders: Sequence[Path] = ()
) -> CheckpointRef:
    """Random weights from the trial's seed, or the weights of a file in one of the folders, checked against the model.

    The checkpoint has no optimiser yet.
    """
    game = make_new_game(request.game.id, 1, **request.game.options)
    if request.gated and game.spec.team_count > 2:
        raise BadGame(f"league.champion_gate: {too_many_teams(request.game.id, game.spec.team_count)}")
    raw_images = False
    weights, algorithm = fresh_weights(request.model, request.algorithm, game.spec, request.seed)
    if request.source is not None:
        imported, raw_images = read_weights(find_import(request.source, folders).read_bytes())
        check_weights(imported, weights)
        weights = imported
    made = Checkpoint(
        model=request.model, game=request.game, weights=weights, algorithm=algorithm, raw_images=raw_images
    )
    return save(store, made)
