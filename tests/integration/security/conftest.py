"""A real Temporal server without any authentication, as the local stack has it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from temporalio.client import Client

from tests.integration.temporal import local_temporal


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def stranger() -> AsyncIterator[Client]:
    """A client of the server that has no key."""
    async with await local_temporal() as environment:
        yield environment.client
