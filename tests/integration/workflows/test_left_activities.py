"""An activity whose worker was killed is tried again when a worker starts on that machine, not after its time limit."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from temporalio import activity, workflow
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from orchestrator import left_activities
from orchestrator.contracts import Queue
from orchestrator.contracts.errors import Failure
from orchestrator.left_activities import fail_left_behind
from orchestrator.temporal import identity
from orchestrator.temporal.identity import own_identity
from orchestrator.workflows.retries import classify_failure, lost_steps
from tests.integration.security.sealed_league import Keys, address_of
from tests.integration.workflows.conftest import PATIENCE, eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")
ATTEMPTS: list[int] = []
TOLD = {"steps": 41_000}


@activity.defn
async def hang_once() -> int:
    attempt = activity.info().attempt
    activity.heartbeat(TOLD)
    ATTEMPTS.append(attempt)
    if attempt == 1:
        await asyncio.sleep(3600)  # its worker is killed
    return attempt


@workflow.defn
class LeftBehindWorkflow:
    """Says after how many attempts the activity succeeded, or how it failed."""

    @workflow.run
    async def run(self, attempts: int) -> list[str]:
        try:
            result = await workflow.execute_activity(
                hang_once,
                task_queue=Queue.TRAIN,
                start_to_close_timeout=timedelta(hours=2),
                heartbeat_timeout=timedelta(hours=1),
                retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=20), maximum_attempts=attempts),
            )
        except ActivityError as error:
            return [*map(str, classify_failure(error)), str(lost_steps(error))]
        return [f"attempt {result}"]


def dead_identity() -> str:
    """What a worker was called whose process was killed."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]) as process:
        began = identity._began(process.pid)
        process.kill()
    assert began
    return f"{process.pid}@somewhere lanista-1.0 {identity._place()}/{began}"


@asynccontextmanager
async def one_worker(server: Client, called: str) -> AsyncIterator[tuple[Client, Client]]:
    """Workers of an installation that seals; the activity's is called so. Clients of the store and the train worker."""
    keys, address = Keys(), address_of(server)
    store, train = await keys.store_client(address), await keys.train_client(address)
    workflows = Worker(
        store, task_queue=Queue.LEAGUE, workflows=[LeftBehindWorkflow], workflow_runner=UnsandboxedWorkflowRunner()
    )
    ATTEMPTS.clear()
    async with workflows, Worker(train, task_queue=Queue.TRAIN, activities=[hang_once], identity=called):
        yield store, train


async def start(client: Client, attempts: int) -> asyncio.Task[list[str]]:
    handle = await client.start_workflow(
        LeftBehindWorkflow.run, attempts, id=f"left-{uuid.uuid4()}", task_queue=Queue.LEAGUE
    )
    await eventually(lambda: ATTEMPTS == [1])
    return asyncio.create_task(handle.result())


async def test_what_a_killed_worker_was_handed_is_tried_again(temporal: Client) -> None:
    async with one_worker(temporal, dead_identity()) as (store, train):
        result = await start(store, attempts=0)
        assert await fail_left_behind(train) == 1
        assert await asyncio.wait_for(result, PATIENCE) == ["attempt 2"]
        assert await fail_left_behind(train) == 0, "the attempt is over: nothing is tried a third time"
    assert ATTEMPTS == [1, 2]


async def test_a_workflow_that_retries_by_itself_learns_what_the_worker_told_last(temporal: Client) -> None:
    async with one_worker(temporal, dead_identity()) as (store, train):
        result = await start(store, attempts=1)
        assert await fail_left_behind(train) == 1
        assert await asyncio.wait_for(result, PATIENCE) == [Failure.WORKER_LOST, "the worker was killed", "41000"]


async def test_an_attempt_that_began_meanwhile_is_left_alone(temporal: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async with one_worker(temporal, dead_identity()) as (store, train):
        result = await start(store, attempts=0)
        looked: list[int] = []
        look = left_activities._left_behind

        async def late(client: Client, workflow: WorkflowExecution) -> list[PendingActivityInfo]:
            found = await look(client, workflow)
            looked.append(len(found))
            if found and sum(looked) == 1:  # another worker reports it, and the next attempt begins
                assert await left_activities._fail(client, workflow, found[0])
                await eventually(lambda: ATTEMPTS == [1, 2])
            return found

        monkeypatch.setattr(left_activities, "_left_behind", late)
        assert await fail_left_behind(train) == 0
        assert await asyncio.wait_for(result, PATIENCE) == ["attempt 2"]
    assert ATTEMPTS == [1, 2] and sum(looked) == 1


@pytest.mark.parametrize(
    "called",
    [own_identity(), "1@elsewhere lanista-1.0 another-boot/17", "4711@older lanista-1.0"],
    ids=["this process", "another machine", "an earlier release"],
)
async def test_a_worker_that_may_be_alive_keeps_its_activities(temporal: Client, called: str) -> None:
    async with one_worker(temporal, called) as (store, train):
        result = await start(store, attempts=1)
        assert await fail_left_behind(train) == 0
        assert not result.done()
        async for found in store.list_workflows("ExecutionStatus = 'Running'"):
            await store.get_workflow_handle(found.id).terminate()
        await asyncio.wait([result])
        assert result.exception() is not None
