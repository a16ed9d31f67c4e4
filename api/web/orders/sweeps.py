"""Orders to a sweep: pause, resume, stop."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from starlette.concurrency import run_in_threadpool
from temporalio.client import RPCTimeoutOrCancelledError, WorkflowUpdateFailedError
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from api.schemas.enums import SweepStatus
from api.schemas.sweeps import StopSweep as StopBody
from api.schemas.sweeps import Sweep
from api.store.sweeps.reads import read_sweep
from api.store.sweeps.status import stop_unstarted_sweep, was_ordered
from api.web.changes import AuditLine, ChangeCall, Reply
from api.web.orders.order import Order
from api.web.problems import ProblemError
from api.web.temporal.messages import TIMEOUT_SECONDS, no_worker
from api.web.temporal.unavailable import unreachable
from orchestrator.contracts.sweeps import sweep_workflow_id
from orchestrator.contracts.workflows import Mode, StopOrder


class SweepOrder(Order):
    """An update of the sweep's workflow, allowed in some statuses; the store makes the final check."""

    update: ClassVar[str]
    allowed: ClassVar[tuple[SweepStatus, ...]]

    def __init__(self, change: ChangeCall, sweep_id: str) -> None:
        super().__init__(change)
        self.sweep_id = sweep_id

    def audit_line(self) -> AuditLine:
        return AuditLine(action=f"sweep.{self.update}", target=f"sweep/{self.sweep_id}", detail=self.audit_detail())

    def audit_detail(self) -> dict[str, Any]:
        return {}

    def message(self) -> list[Any]:
        """The arguments of the update."""
        return []

    def check(self) -> None:
        status = self._read().status
        if status not in self.allowed:
            words = f"the sweep is {status}; {self.update} is possible while it is {', '.join(self.allowed)}"
            raise ProblemError(409, words, sweep_status=status)

    async def send(self) -> Reply:
        handle = self.services.temporal.get_workflow_handle(sweep_workflow_id(self.sweep_id))
        call = handle.execute_update(self.update, args=self.message(), id=self.change.operation_id, result_type=str)
        try:
            await asyncio.wait_for(call, TIMEOUT_SECONDS)
        except WorkflowUpdateFailedError as error:
            raise ProblemError(409, _said(error.cause)) from None
        except (TimeoutError, RPCTimeoutOrCancelledError):
            raise no_worker() from None
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise ProblemError(409, "the sweep's workflow does not run") from None
            raise unreachable(error) from None
        except RuntimeError as error:  # the SDK raises it where it cannot connect
            raise unreachable(error) from None
        return await run_in_threadpool(self._reply)

    def find_effect(self) -> Reply | None:
        with self.services.reads() as session:
            carried_out = was_ordered(session, self.change.operation_id)
        return self._reply() if carried_out else None

    def _reply(self) -> Reply:
        return Reply(body=self._read())

    def _read(self) -> Sweep:
        with self.services.reads() as session:
            return read_sweep(session, self.sweep_id)


class PauseSweep(SweepOrder):
    """Every trial finishes its generation and then waits; no further trial starts."""

    update = "pause"
    allowed = (SweepStatus.RUNNING,)


class ResumeSweep(SweepOrder):
    """Trials train again."""

    update = "resume"
    allowed = (SweepStatus.PAUSED,)


class StopSweep(SweepOrder):
    """Ends the sweep and its trials for good."""

    update = "stop"
    allowed = (SweepStatus.PENDING, SweepStatus.RUNNING, SweepStatus.PAUSED)

    def __init__(self, change: ChangeCall, sweep_id: str, stop: StopBody) -> None:
        super().__init__(change, sweep_id)
        self.stop = stop

    def audit_detail(self) -> dict[str, Any]:
        return self.stop.model_dump()

    def message(self) -> list[Any]:
        return [StopOrder(mode=Mode.NOW, reason=self.stop.reason)]

    async def send(self) -> Reply:
        try:
            return await super().send()
        except ProblemError:
            if not await run_in_threadpool(self._stop_unstarted):
                raise
        return await run_in_threadpool(self._reply)

    def _stop_unstarted(self) -> bool:
        with self.services.sessions.begin() as session:
            return stop_unstarted_sweep(session, self.sweep_id, self.stop.reason, order=self.change.operation_id)


def _said(cause: BaseException | None) -> str:
    """The words of the workflow, or of the activity that it called."""
    if isinstance(cause, ActivityError):
        cause = cause.cause
    return cause.message if isinstance(cause, ApplicationError) else str(cause)
