"""Activities that a stranger schedules, or that a train worker forges, never run; nor does a forged result count."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from temporalio import workflow
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.workflowservice.v1 import RespondActivityTaskCompletedByIdRequest
from temporalio.client import ActivityFailureError, Client, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.converter import ActivitySerializationContext
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.worker import (
    Interceptor,
    StartActivityInput,
    UnsandboxedWorkflowRunner,
    Worker,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from orchestrator.contracts import PartReport, PartRequest, Queue
from orchestrator.contracts.trials import TrialRequest
from orchestrator.contracts.workflows import Mode, StopOrder, TrialState, player_workflow_id
from orchestrator.sealing import KeyRing, KeyUse, sealed_options
from tests.integration.security.sealed_league import (
    TRAIN_SECRET,
    Keys,
    address_of,
    fresh,
    running_league,
    scheduled_activity,
    serve_sealed,
    start_trial,
)
from tests.integration.workflows.conftest import eventually
from tests.integration.workflows.fake_league import FakeLeague

pytestmark = pytest.mark.asyncio(loop_scope="package")


@workflow.defn
class StrangersWorkflow:
    """A workflow of the stranger's own, on a queue of their own, that schedules an activity on one of Lanista's."""

    @workflow.run
    async def run(self, name: str, queue: str, argument: RawValue) -> Any:
        return await workflow.execute_activity(
            name, argument, task_queue=queue, schedule_to_close_timeout=timedelta(seconds=60)
        )


class CopiedHeaders(Interceptor):
    """Puts copied headers on the activities of the stranger's workflow."""

    def __init__(self, headers: dict[str, Payload]) -> None:
        self._headers = headers

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        headers = self._headers

        class Out(WorkflowOutboundInterceptor):
            def start_activity(self, input: StartActivityInput) -> workflow.ActivityHandle[Any]:
                input.headers = headers
                return super().start_activity(input)

        class In(WorkflowInboundInterceptor):
            def init(self, outbound: WorkflowOutboundInterceptor) -> None:
                super().init(Out(outbound))

        return In


@asynccontextmanager
async def strangers_worker(stranger: Client, headers: dict[str, Payload] | None = None) -> AsyncIterator[str]:
    queue = f"strange-{uuid.uuid4()}"
    async with Worker(
        stranger,
        task_queue=queue,
        workflows=[StrangersWorkflow],
        workflow_runner=UnsandboxedWorkflowRunner(),
        interceptors=[CopiedHeaders(headers or {})],
    ):
        yield queue


async def schedule(
    client: Client, name: str, queue: Queue, argument: Any, headers: dict[str, Payload] | None = None, id: str = ""
) -> BaseException | None:
    """Schedule an activity from a workflow of the client's own; the reason why it failed for good."""
    async with strangers_worker(client, headers) as own:
        raw = (
            argument if isinstance(argument, Payload) else client.data_converter.payload_converter.to_payload(argument)
        )
        with pytest.raises(WorkflowFailureError) as failed:
            await client.execute_workflow(
                StrangersWorkflow.run,
                args=[name, queue.value, RawValue(raw)],
                id=id or f"strange-{uuid.uuid4()}",
                task_queue=own,
            )
    assert isinstance(failed.value.cause, ActivityError)
    return failed.value.cause.cause


def assert_refused(cause: BaseException | None) -> None:
    assert isinstance(cause, ApplicationError)
    assert (cause.type, cause.non_retryable) == ("not_sealed", True)


@pytest.mark.parametrize(
    ("name", "queue", "message"),
    [
        ("check_train", Queue.TRAIN, PartRequest(check="1")),
        ("begin_trial", Queue.STORE, TrialRequest(trial="t")),
        ("collect_garbage", Queue.STORE, TrialRequest(trial="t")),
    ],
)
async def test_an_activity_of_a_strangers_workflow_never_runs(
    stranger: Client, name: str, queue: Queue, message: object
) -> None:
    league = fresh(FakeLeague())
    async with serve_sealed(address_of(stranger), league, Keys()):
        assert_refused(await schedule(stranger, name, queue, message))
    assert not league.calls


async def test_an_activity_without_a_workflow_never_runs(stranger: Client) -> None:
    league = fresh(FakeLeague())
    async with serve_sealed(address_of(stranger), league, Keys()):
        for arguments in ([PartRequest(check="1")], []):
            with pytest.raises(ActivityFailureError) as refused:
                await stranger.execute_activity(
                    "make_initial_weights",
                    args=arguments,
                    id=str(uuid.uuid4()),
                    task_queue=Queue.INTERACTIVE,
                    schedule_to_close_timeout=timedelta(seconds=60),
                )
            assert_refused(refused.value.cause)
    assert not league.calls


async def test_the_api_may_ask_a_train_worker_and_a_copy_of_its_question_is_refused(stranger: Client) -> None:
    league = fresh(FakeLeague())
    async with serve_sealed(address_of(stranger), league, Keys()) as client:
        report = await client.execute_activity(
            "check_interactive",
            PartRequest(check="1"),
            id="a question",
            task_queue=Queue.INTERACTIVE,
            result_type=PartReport,
            schedule_to_close_timeout=timedelta(seconds=60),
        )
        assert report.part == "interactive"
        converter = client.data_converter.with_context(_question_context(client, "a question"))
        sealed = (await converter.encode([PartRequest(check="1")]))[0]
        with pytest.raises(ActivityFailureError) as refused:
            await stranger.execute_activity(
                "make_initial_weights",
                RawValue(sealed),
                id="another question",
                task_queue=Queue.INTERACTIVE,
                schedule_to_close_timeout=timedelta(seconds=60),
            )
        assert_refused(refused.value.cause)


def _question_context(client: Client, question: str) -> ActivitySerializationContext:
    return ActivitySerializationContext(
        namespace=client.namespace,
        workflow_id=None,
        workflow_type=None,
        activity_id=question,
        activity_type="check_interactive",
        activity_task_queue=Queue.INTERACTIVE,
        is_local=False,
    )


async def test_a_copied_activity_is_refused_in_another_run_of_the_same_workflow_id(stranger: Client) -> None:
    """Argument and stamp are those of the league's own call, and the workflow id too; only the run is another."""
    league = fresh(FakeLeague())
    async with running_league(address_of(stranger), league) as handle:
        copied = await scheduled_activity(stranger, handle.id, "begin_trial")
    async with serve_sealed(address_of(stranger), league, Keys()):
        before = league.calls["begin_trial"]
        cause = await schedule(
            stranger,
            "begin_trial",
            Queue.STORE,
            copied.input.payloads[0],
            headers=dict(copied.header.fields),
            id=handle.id,
        )
        assert_refused(cause)
        assert league.calls["begin_trial"] == before


async def test_the_train_key_gives_no_orders_to_workflows_and_store(stranger: Client) -> None:
    """Users' code has the key of its train worker, and uses it for everything."""
    league = fresh(FakeLeague())
    forger = await _client_with_the_train_key_for_all(address_of(stranger))
    async with running_league(address_of(stranger), league) as handle:
        victim = forger.get_workflow_handle(handle.id)
        await victim.signal("withdraw", "by users' code")
        for name, arguments in (("pause", []), ("stop", [StopOrder(mode=Mode.NOW)])):
            with pytest.raises(WorkflowUpdateFailedError) as refused:
                await victim.execute_update(name, args=arguments)
            assert_refused(refused.value.cause)
        with pytest.raises(WorkflowFailureError) as failed:
            state = TrialState(trial="forged")
            await forger.execute_workflow("TrialWorkflow", state, id=str(uuid.uuid4()), task_queue=Queue.LEAGUE)
        assert_refused(failed.value.cause)
        with pytest.raises(ActivityFailureError) as never_ran:
            await forger.execute_activity(
                "collect_garbage",
                TrialRequest(trial="t"),
                id=str(uuid.uuid4()),
                task_queue=Queue.STORE,
                schedule_to_close_timeout=timedelta(seconds=60),
            )
        assert_refused(never_ran.value.cause)
        assert league.calls["collect_garbage"] == 0


async def _client_with_the_train_key_for_all(address: str) -> Client:
    ring = KeyRing({KeyUse.TRAIN: [TRAIN_SECRET]})
    ring._first[KeyUse.LEAGUE] = ring.sealing_key(KeyUse.TRAIN)
    return await Client.connect(address, **sealed_options(ring, namespace="default"))


async def test_a_train_worker_cannot_seal_for_the_league(stranger: Client) -> None:
    train = await Keys().train_client(address_of(stranger))
    with pytest.raises(Exception, match="LANISTA_TEMPORAL_KEY is not set"):
        await train.start_workflow("TrialWorkflow", TrialState(trial="t"), id="never", task_queue=Queue.LEAGUE)
    with pytest.raises(Exception, match="LANISTA_TEMPORAL_KEY is not set"):
        await train.get_workflow_handle("never").signal("withdraw", "reason")


async def test_a_forged_result_is_never_used(stranger: Client) -> None:
    """Anyone can complete a pending activity by its id. A plan that names evil code must not reach a train worker."""
    league = fresh(FakeLeague(planning_seconds=600))
    async with serve_sealed(address_of(stranger), league, Keys()) as client:
        handle = await start_trial(client, league)
        await eventually(lambda: league.calls["plan_generation"] == 1)
        player = stranger.get_workflow_handle(player_workflow_id(league.learners[0].player))
        pending = (await player.describe()).raw_description.pending_activities[0]
        forged = Payload(metadata={"encoding": b"json/plain"}, data=b'{"opponents": []}')
        await stranger.workflow_service.respond_activity_task_completed_by_id(
            RespondActivityTaskCompletedByIdRequest(
                namespace=stranger.namespace,
                workflow_id=player.id,
                activity_id=pending.activity_id,
                result=Payloads(payloads=[forged]),
            )
        )
        with pytest.raises(WorkflowFailureError) as refused:
            await player.result()
        assert_refused(refused.value.cause)
        assert league.calls["train_generation"] == 0
        await handle.terminate()
