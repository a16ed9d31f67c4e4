"""A real Postgres and a real Temporal server for tournaments; games are played in-process, without Ray."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from temporalio.client import Client

from api.store.core.engine import create_store_engine
from orchestrator.storage.artifacts import ArtifactStore
from tests.integration.temporal import local_temporal
from tests.integration.tournaments.hall import Hall


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def temporal() -> AsyncIterator[Client]:
    async with await local_temporal() as environment:
        yield environment.client


@pytest.fixture(scope="module")
def hall(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """The store's activities and a place to play, on the module's database."""
    engine = create_store_engine(postgres_url, pool_size=20)
    yield Hall(engine, ArtifactStore(str(tmp_path_factory.mktemp("artifacts"))))
    engine.dispose()
