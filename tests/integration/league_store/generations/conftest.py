"""These tests run the store by the role of the API and the store worker, which reads and writes rows only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.store.core.engine import create_store_engine
from orchestrator.storage.artifacts import ArtifactStore
from tests.integration.league_store.driver import Store
from tests.integration.postgres import with_app_role


@pytest.fixture(scope="module")
def store(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The store's activities on the module's database, by the role that may not change the schema."""
    engine = create_store_engine(with_app_role(postgres_url), pool_size=10)
    yield Store.open(engine, ArtifactStore(str(tmp_path_factory.mktemp("artifacts"))))
    engine.dispose()
