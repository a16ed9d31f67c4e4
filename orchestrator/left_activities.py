"""Activities that a killed worker left behind: a worker that starts on the same machine reports them as failed.

Temporal notices a worker's death only by silence: an activity is tried again when its time limit has passed, or when
its heartbeats have been missing for some seconds. But it knows which process it handed each activity to, also one that
died before it began. So a worker that starts looks through the running workflows and fails what dead processes of its
own machine were handed; the server then retries at once. The server is asked again right before each report, as another
worker may have reported meanwhile: it takes a report for whatever attempt runs then.

See docs/decisions/temporal.md.
"""

from __future__ import annotations

import asyncio

import structlog
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.failure.v1 import ApplicationFailureInfo
from temporalio.api.failure.v1 import Failure as FailureMessage
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionRequest, RespondActivityTaskFailedByIdRequest
from temporalio.client import Client
from temporalio.service import RPCError

from orchestrator.contracts.errors import Failure
from orchestrator.temporal.identity import parse_identity

log = structlog.get_logger()

AT_ONCE = 16
"""Workflows that are asked about at the same time: a league may have thousands."""
TRIES, PAUSE_SECONDS = 5, 1.0
"""A server that has just started may not answer yet."""


async def fail_left_behind(client: Client) -> int:
    """Fail what dead processes of this machine were handed; returns how many activities the server still waited for."""
    for again in reversed(range(TRIES)):
        try:
            running = [
                WorkflowExecution(workflow_id=each.id, run_id=each.run_id)
                async for each in client.list_workflows("ExecutionStatus = 'Running'")
            ]
            break
        except RPCError as error:
            if not again:
                log.warning("cannot look for activities of killed workers; their time limits hold", problem=str(error))
                return 0
            await asyncio.sleep(PAUSE_SECONDS)
    places = asyncio.Semaphore(AT_ONCE)

    async def look(workflow: WorkflowExecution) -> int:
        async with places:
            return await _fail_dead(client, workflow)

    failed = sum(await asyncio.gather(*map(look, running)))
    if failed:
        log.info("activities of a killed worker are tried again", count=failed)
    return failed


async def _fail_dead(client: Client, workflow: WorkflowExecution) -> int:
    """Those of one workflow."""
    failed = 0
    for seen in await _left_behind(client, workflow):
        # what was reported before took time, and another worker that started may have been faster
        if same := [each for each in await _left_behind(client, workflow) if _attempt(each) == _attempt(seen)]:
            failed += await _fail(client, workflow, same[0])
    return failed


async def _left_behind(client: Client, workflow: WorkflowExecution) -> list[PendingActivityInfo]:
    """Activities of the workflow that dead processes have; none where it has ended."""
    asked = DescribeWorkflowExecutionRequest(namespace=client.namespace, execution=workflow)
    try:
        found = await client.workflow_service.describe_workflow_execution(asked)
    except RPCError:
        return []
    return [
        each
        for each in found.pending_activities
        if each.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        and parse_identity(each.last_worker_identity).is_dead()
    ]


def _attempt(pending: PendingActivityInfo) -> tuple[str, int, str]:
    return pending.activity_id, pending.attempt, pending.last_worker_identity


async def _fail(client: Client, workflow: WorkflowExecution, pending: PendingActivityInfo) -> bool:
    """Report the failure with the last heartbeat's details as they are: they are sealed for this activity."""
    told = ApplicationFailureInfo(type=Failure.WORKER_LOST, details=pending.heartbeat_details)
    request = RespondActivityTaskFailedByIdRequest(
        namespace=client.namespace,
        workflow_id=workflow.workflow_id,
        run_id=workflow.run_id,
        activity_id=pending.activity_id,
        failure=FailureMessage(message="the worker was killed", application_failure_info=told),
        identity=client.identity,
    )
    try:
        await client.workflow_service.respond_activity_task_failed_by_id(request)
    except RPCError as refused:  # over, or its workflow is
        log.debug("an activity of a killed worker is over", status=refused.status.name)
        return False
    return True
