"""A store, and versions with fresh random weights to play with."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import ray

from league.types import VersionId
from orchestrator.catalog import Component
from orchestrator.storage.artifacts import ArtifactStore
from workers.checkpoints import Checkpoint, save
from workers.games.names import make_game
from workers.matches.task import Entrant
from workers.models.contract import build_model

MakeVersion = Callable[..., Entrant]
SMALL = Component(id="mlp", options={"hidden": [16]})


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "artifacts"))


@pytest.fixture
def version(store: ArtifactStore) -> MakeVersion:
    def make(game: Component, seed: int, model: Component = SMALL) -> Entrant:
        spec = make_game(game.id, 1, **game.options).spec
        weights = build_model(model, spec, seed).state_dict()
        # Larger logits than a fresh model's, so that its moves differ clearly from uniform ones.
        weights = {name: tensor * 20 for name, tensor in weights.items()}
        ref = save(store, Checkpoint(model=model, game=game, weights=weights))
        return Entrant(id=VersionId(f"version-{seed}"), checkpoint=ref)

    return make


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[None]:
    """The Ray that other tests of the session started, or one of its own while the module runs."""
    if ray.is_initialized():
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()
