"""The weights that the players of a run start from."""

from __future__ import annotations

from lanista.training.source import Source
from league.types import CheckpointRef
from orchestrator.contracts.trials import InitialWeightsRequest
from orchestrator.league_rules import starts_alike
from orchestrator.spec.components import Choice
from orchestrator.storage.artifacts import ArtifactStore
from workers.initial_weights import initial_weights


def first_weights(source: Source, store: ArtifactStore) -> dict[str, CheckpointRef]:
    """The first checkpoint of each learning player, by name: one for those of the trial's model and algorithm."""
    spec = source.spec
    shared: CheckpointRef | None = None
    found: dict[str, CheckpointRef] = {}
    for player in spec.league.learners:
        if starts_alike(spec, own_algorithm=player.algorithm is not None, own_model=player.model is not None):
            shared = shared or _make(source, store, spec.model, spec.algorithm, spec.initial_weights)
            found[player.name] = shared
        else:
            found[player.name] = _make(source, store, player.model or spec.model, player.algorithm or spec.algorithm)
    return found


def _make(
    source: Source, store: ArtifactStore, model: Choice, algorithm: Choice, file: str | None = None
) -> CheckpointRef:
    request = InitialWeightsRequest(
        trial=source.name,
        game=source.spec.game.component,
        model=model.component,
        seed=source.spec.seed,
        source=file,
        algorithm=algorithm.component,
        gated=source.spec.league.champion_gate is not None,
    )
    return initial_weights(store, request, source.folders)
