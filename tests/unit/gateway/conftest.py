import asyncio
from collections.abc import AsyncIterator

import pytest
import uvloop

from tests.unit.gateway.fakes import Table, open_gateway


@pytest.fixture(scope="session")
def event_loop_policy() -> asyncio.AbstractEventLoopPolicy:
    """The event loop that gateways run on."""
    return uvloop.EventLoopPolicy()


@pytest.fixture
async def table() -> AsyncIterator[Table]:
    async with open_gateway() as opened:
        yield opened
