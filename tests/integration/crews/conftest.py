"""A local Ray for the tests of crews."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.storage.artifacts import ArtifactStore


@pytest.fixture(scope="session")
def local_ray() -> Iterator[None]:
    # Niceness: Ray's default of 15 lets any other work on the machine starve the actors.
    os.environ.update(RAY_AUTH_MODE="disabled", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0", RAY_worker_niceness="0")
    import ray

    ray.init(address="local", num_cpus=4, num_gpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(str(tmp_path / "artifacts"))
