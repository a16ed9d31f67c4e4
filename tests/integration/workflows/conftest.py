"""A real Temporal server for the workflows' tests, and leagues in memory to run on it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkflowRunner

from api.worker import WORKFLOWS
from orchestrator.contracts import Queue
from orchestrator.contracts.trials import Learner
from orchestrator.contracts.workflows import Status, TrialState, player_workflow_id, trial_workflow_id
from tests.integration.temporal import local_temporal
from tests.integration.workflows.fake_league import FakeLeague

PATIENCE = 120.0
"""Seconds until a test gives up; far above what anything here takes, for a busy machine may stand still for a while."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def temporal() -> AsyncIterator[Client]:
    async with await local_temporal() as environment:
        yield environment.client


Serve = Callable[..., AbstractAsyncContextManager[None]]


@pytest.fixture
def serve(temporal: Client) -> Serve:
    """Workers of the module's Temporal server; see `serve_on`."""
    return serve_on(temporal)


def serve_on(temporal: Client) -> Serve:
    """Workers for all queues that answer with a fake league, and with whatever else is given.

    Workflows run outside the sandbox, which is slow to set up, unless a test asks for it; replays are all inside.
    """

    @asynccontextmanager
    async def run(
        league: FakeLeague, *more: Callable[..., Any], runner: WorkflowRunner | None = None
    ) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            workflows = Worker(
                temporal,
                task_queue=Queue.LEAGUE,
                workflows=WORKFLOWS,
                workflow_runner=runner or UnsandboxedWorkflowRunner(),
            )
            await stack.enter_async_context(workflows)
            for queue in (Queue.STORE, Queue.TRAIN, Queue.PLAY, Queue.INTERACTIVE):
                activities = [*league.activities(), *more]
                await stack.enter_async_context(Worker(temporal, task_queue=queue, activities=activities))
            yield

    return run


@pytest.fixture
def begin(temporal: Client, serve: Serve) -> Callable[..., Any]:
    @asynccontextmanager
    async def run(
        league: FakeLeague, *more: Callable[..., Any], runner: WorkflowRunner | None = None
    ) -> AsyncIterator[WorkflowHandle[object, Status]]:
        """Start a trial with a fresh id; its players' ids are made unique with it."""
        key = uuid.uuid4().hex[:8]
        league.trial = f"t{key}"
        league.learners = [
            Learner(player=f"{each.player}-{key}", name=each.name, role=each.role) for each in league.learners
        ]
        league.gates = {f"{gate}-{key}" if "next" not in gate else gate: n for gate, n in league.gates.items()}
        league.gates = {_keyed(gate, key): batches for gate, batches in league.gates.items()}
        league.probed_gates = {_keyed(gate, key): looks for gate, looks in league.probed_gates.items()}
        league.gate_of_generation = {n: _keyed(gate, key) for n, gate in league.gate_of_generation.items()}
        async with serve(league, *more, runner=runner):
            handle = await temporal.start_workflow(
                "TrialWorkflow",
                TrialState(trial=league.trial),
                id=trial_workflow_id(league.trial),
                task_queue=Queue.LEAGUE,
                result_type=Status,
            )
            try:
                yield handle
            finally:
                await _terminate(temporal, league)

    return run


def _keyed(gate: str, key: str) -> str:
    if key in gate:
        return gate
    return f"{gate.removesuffix('-next')}-{key}-next" if gate.endswith("-next") else f"{gate}-{key}"


async def _terminate(temporal: Client, league: FakeLeague) -> None:
    ids = [trial_workflow_id(league.trial), *(player_workflow_id(each.player) for each in league.learners)]
    for workflow_id in ids:
        try:
            await temporal.get_workflow_handle(workflow_id).terminate()
        except Exception:
            continue


async def eventually(check: Callable[[], bool | Awaitable[bool]], patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        answer = check()
        if answer if isinstance(answer, bool) else await answer:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("did not happen in time")
