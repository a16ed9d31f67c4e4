import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
import uvloop

from tests.unit.gateway.fakes import Table, open_gateway


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The event loop that gateways run on."""
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
async def table() -> AsyncIterator[Table]:
    async with open_gateway() as opened:
        yield opened
