"""A league whose workers seal, on a real Temporal server, and a stranger's client of the same server."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import SecretStr
from temporalio.api.common.v1 import Payload
from temporalio.api.history.v1 import (
    ActivityTaskScheduledEventAttributes,
    HistoryEvent,
    WorkflowExecutionStartedEventAttributes,
)
from temporalio.client import (
    ActivityHandle,
    Client,
    Interceptor,
    OutboundInterceptor,
    SignalWorkflowInput,
    StartActivityInput,
    StartWorkflowInput,
    StartWorkflowUpdateInput,
    WorkflowHandle,
)
from temporalio.service import RPCError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from api.worker import WORKFLOWS
from orchestrator.contracts import Queue
from orchestrator.contracts.workflows import Mode, Status, StopOrder, TrialState, trial_workflow_id
from orchestrator.sealing.keys import TRAIN_QUEUES
from orchestrator.settings import TemporalSettings
from orchestrator.temporal import connect
from tests.integration.workflows.conftest import eventually
from tests.integration.workflows.fake_league import FakeLeague

LEAGUE_SECRET = "a secret of the league with 32 characters or more"
TRAIN_SECRET = "a secret of train workers with 32 characters or more"


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The keys and the migration of an installation."""

    league: str = LEAGUE_SECRET
    train: str = TRAIN_SECRET
    since: datetime | None = None

    async def store_client(self, address: str, *, serves: bool = True) -> Client:
        """A client as the store worker and the API have it."""
        return await connect(self._settings(address, self.league), serves=serves)

    async def train_client(self, address: str) -> Client:
        """A client as a train worker has it: without the league's key."""
        return await connect(self._settings(address, ""), serves=True)

    def _settings(self, address: str, league: str) -> TemporalSettings:
        return TemporalSettings(
            temporal_address=address,
            temporal_key=SecretStr(league),
            temporal_train_key=SecretStr(self.train),
            temporal_sealed_since=self.since,
        )


@asynccontextmanager
async def serve_sealed(address: str, league: FakeLeague, keys: Keys) -> AsyncIterator[Client]:
    """Workers as `workers_only`; ends what a failed test leaves behind, which would call the next test's activities."""
    async with workers_only(address, league, keys) as client:
        try:
            yield client
        finally:
            async for found in client.list_workflows("ExecutionStatus = 'Running'"):
                with suppress(RPCError):
                    await client.get_workflow_handle(found.id).terminate()


@asynccontextmanager
async def workers_only(address: str, league: FakeLeague, keys: Keys) -> AsyncIterator[Client]:
    """Workers as in production: one client for workflows and the store, another one for the train queues."""
    store, train = await keys.store_client(address), await keys.train_client(address)
    async with AsyncExitStack() as stack:
        runner = UnsandboxedWorkflowRunner()
        await stack.enter_async_context(
            Worker(store, task_queue=Queue.LEAGUE, workflows=WORKFLOWS, workflow_runner=runner)
        )
        for queue in (Queue.STORE, *sorted(TRAIN_QUEUES)):
            client = train if queue in TRAIN_QUEUES else store
            await stack.enter_async_context(Worker(client, task_queue=queue, activities=league.activities()))
        yield await keys.store_client(address, serves=False)


def fresh(league: FakeLeague) -> FakeLeague:
    """The league with ids that no other test uses."""
    key = uuid.uuid4().hex[:8]
    learners = [replace(each, player=f"{each.player}-{key}") for each in league.learners]
    league.trial, league.learners = f"t{key}", learners
    return league


async def start_trial(client: Client, league: FakeLeague) -> WorkflowHandle[Any, Status]:
    handle: WorkflowHandle[Any, Status] = await client.start_workflow(
        "TrialWorkflow",
        TrialState(trial=league.trial),
        id=trial_workflow_id(league.trial),
        task_queue=Queue.LEAGUE,
        result_type=Status,
        memo={"trial": league.trial},
    )
    return handle


@asynccontextmanager
async def running_league(address: str, league: FakeLeague) -> AsyncIterator[WorkflowHandle[Any, Status]]:
    """A sealed league that has recorded a generation; after an attack it must still train on, and end when asked."""
    async with serve_sealed(address, league, Keys()) as client:
        handle = await start_trial(client, league)
        await eventually(lambda: {each.player for each in league.learners} == {player for player, _ in league.recorded})
        yield handle
        recorded = len(league.recorded)
        await eventually(lambda: len(league.recorded) > recorded)
        await handle.execute_update("stop", StopOrder(mode=Mode.NOW), result_type=Status)
        assert await handle.result() is Status.STOPPED


def address_of(client: Client) -> str:
    return client.service_client.config.target_host


async def events_of(client: Client, workflow_id: str) -> list[HistoryEvent]:
    return [event async for event in client.get_workflow_handle(workflow_id).fetch_history_events()]


async def started_event(client: Client, workflow_id: str) -> WorkflowExecutionStartedEventAttributes:
    """How the workflow's present run was started, as everybody can read it."""
    return (await events_of(client, workflow_id))[0].workflow_execution_started_event_attributes


async def scheduled_activity(client: Client, workflow_id: str, name: str) -> ActivityTaskScheduledEventAttributes:
    """How the workflow scheduled an activity, as everybody can read it."""
    events = await events_of(client, workflow_id)
    scheduled = [event.activity_task_scheduled_event_attributes for event in events]
    return next(each for each in scheduled if each.activity_type.name == name)


class Headers(Interceptor):
    """Puts copied headers on every call of a client."""

    def __init__(self, headers: Mapping[str, Payload]) -> None:
        self.headers = headers

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        return _HeadersOut(next, self.headers)


class _HeadersOut(OutboundInterceptor):
    def __init__(self, next: OutboundInterceptor, headers: Mapping[str, Payload]) -> None:
        super().__init__(next)
        self._headers = headers

    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:
        input.headers = {**input.headers, **self._headers}
        return await super().start_workflow(input)

    async def signal_workflow(self, input: SignalWorkflowInput) -> None:
        input.headers = {**input.headers, **self._headers}
        await super().signal_workflow(input)

    async def start_workflow_update(self, input: StartWorkflowUpdateInput) -> Any:
        input.headers = {**input.headers, **self._headers}
        return await super().start_workflow_update(input)

    async def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:
        input.headers = {**input.headers, **self._headers}
        return await super().start_activity(input)


def with_headers(client: Client, headers: Mapping[str, Payload]) -> Client:
    """The client, with these headers on every call."""
    return Client(**{**client.config(), "interceptors": [Headers(dict(headers))]})
