"""Fixtures of the league's tests in the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.store.core.engine import create_store_engine
from orchestrator.storage.artifacts import ArtifactStore
from tests.integration.league_store.driver import League, Store


@pytest.fixture(scope="module")
def store(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The store's activities on the module's database."""
    engine = create_store_engine(postgres_url, pool_size=10)
    yield Store.open(engine, ArtifactStore(str(tmp_path_factory.mktemp("artifacts"))))
    engine.dispose()


@pytest.fixture
def fresh_store(fresh_postgres_url: str, tmp_path: Path) -> Iterator[Store]:
    """The store's activities on a database of the test's own."""
    engine = create_store_engine(fresh_postgres_url, pool_size=10)
    yield Store.open(engine, ArtifactStore(str(tmp_path / "artifacts")))
    engine.dispose()


@pytest.fixture
def league(store: Store) -> League:
    """A new alphastar trial with one main and the bot `random`, its players entered."""
    return store.found()
