"""Messages to running workflows: updates and signals, with Temporal's errors mapped to problems."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from temporalio.client import Client, RPCTimeoutOrCancelledError, WorkflowUpdateFailedError
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from api.store.trials.reads import get_trial
from api.web.problems import ProblemError
from api.web.services import Services
from api.web.temporal.unavailable import unreachable
from orchestrator.contracts.errors import Failure
from orchestrator.contracts.workflows import trial_workflow_id

Result = TypeVar("Result")

TIMEOUT_SECONDS = 20.0
"""How long to wait for a worker to take an update. After that the update is still pending and may be carried out."""


async def update_trial(
    services: Services, trial_id: str, update: str, update_id: str, result: type[Result], *message: Any
) -> Result:
    """Have the trial's workflow carry out an update; 409 with the trial's status where the workflow refuses it."""
    handle = services.temporal.get_workflow_handle(trial_workflow_id(trial_id))
    try:
        return await asyncio.wait_for(
            handle.execute_update(update, args=list(message), id=update_id, result_type=result), TIMEOUT_SECONDS
        )
    except WorkflowUpdateFailedError as error:
        raise await _refusal(services, trial_id, error.cause) from None
    except (TimeoutError, RPCTimeoutOrCancelledError):
        raise no_worker() from None
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise await _conflict(services, trial_id, "the trial's workflow does not run") from None
        raise unreachable(error) from None
    except RuntimeError as error:  # the SDK raises it where it cannot connect
        raise unreachable(error) from None


async def signal_workflow(temporal: Client, workflow_id: str, signal: str, argument: str, *, not_running: str) -> None:
    """Signal a workflow; 409 with the text `not_running` where it does not run."""
    try:
        await temporal.get_workflow_handle(workflow_id).signal(signal, argument)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise ProblemError(409, not_running) from None
        raise unreachable(error) from None
    except RuntimeError as error:  # the SDK raises it where it cannot connect
        raise unreachable(error) from None


async def _refusal(services: Services, trial_id: str, cause: BaseException | None) -> ProblemError:
    """The error of the workflow, or of the activity that it called, as a problem."""
    if isinstance(cause, ActivityError):
        cause = cause.cause
    if isinstance(cause, ApplicationError):
        if cause.type == Failure.NOT_FOUND:
            return ProblemError(404, cause.message)
        return await _conflict(services, trial_id, cause.message)
    return await _conflict(services, trial_id, str(cause))


async def _conflict(services: Services, trial_id: str, detail: str) -> ProblemError:
    return ProblemError(409, detail, trial_status=await run_in_threadpool(_status, services, trial_id))


def _status(services: Services, trial_id: str) -> str:
    with services.sessions() as session:
        return get_trial(session, trial_id).status.value


def no_worker() -> ProblemError:
    """503: no worker took an update in time."""
    return ProblemError(
        503,
        f"no worker took the order within {TIMEOUT_SECONDS:g} s; is the store worker running? "
        "The order may still be carried out",
        headers={"Retry-After": "5"},
    )
