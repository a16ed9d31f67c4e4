"""A real Temporal server for the tests of connections and deployments, and a CA for those that speak TLS."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import Client

from tests.integration.temporal import local_temporal
from tests.integration.temporal_server.certificates import Issued, issue


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def temporal() -> AsyncIterator[Client]:
    async with await local_temporal() as environment:
        yield environment.client


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="session")
def ca(folder: Path) -> Issued:
    return issue(folder, "ca")


@pytest.fixture(scope="session")
def other_ca(folder: Path) -> Issued:
    return issue(folder, "other-ca")


@pytest.fixture(scope="session")
def server(folder: Path, ca: Issued) -> Issued:
    return issue(folder, "server", ca)


@pytest.fixture(scope="session")
def client(folder: Path, ca: Issued) -> Issued:
    return issue(folder, "client", ca)
