"""One API for all tests of this folder, over one database and one Temporal server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from api.schemas.enums import Scope
from tests.integration.api.server import Served, patient_api, running_api, running_store_worker, running_temporal
from tests.integration.postgres import PostgresServer


@pytest.fixture(scope="session")
def temporal_address() -> Iterator[str]:
    with running_temporal() as address:
        yield address


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("artifacts")


@pytest.fixture(scope="session")
def api_database(postgres_server: PostgresServer, postgres_template: str) -> Iterator[str]:
    with postgres_server.database(postgres_template) as url:
        yield url


@pytest.fixture(scope="session")
def api(api_database: str, temporal_address: str, artifacts: Path) -> Iterator[Served]:
    with (
        patient_api(),
        running_store_worker(temporal_address, api_database, artifacts),
        running_api(api_database, temporal_address, artifacts) as served,
    ):
        yield served


@pytest.fixture
def admin(api: Served) -> Iterator[httpx.Client]:
    with api.client(Scope.ADMIN) as client:
        yield client


@pytest.fixture
def operator(api: Served) -> Iterator[httpx.Client]:
    with api.client(Scope.OPERATOR) as client:
        yield client


@pytest.fixture
def coder(api: Served) -> Iterator[httpx.Client]:
    """A caller who may name code."""
    with api.client(Scope.CODE) as client:
        yield client


@pytest.fixture
def viewer(api: Served) -> Iterator[httpx.Client]:
    with api.client(Scope.VIEWER) as client:
        yield client
