"""Guards activities: one that Lanista did not schedule, or not with these arguments, fails for good and never runs."""

from __future__ import annotations

from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from orchestrator.contracts.errors import Failure
from orchestrator.sealing.converters import RefusedArgument, refuse
from orchestrator.sealing.errors import UnknownKey
from orchestrator.sealing.marks import Refusal
from orchestrator.sealing.stamps import HEADER, Call, Stamps
from orchestrator.sealing.workflow_guard import Migration


class ActivityGuard(ActivityInboundInterceptor):
    """Checks an activity's stamp and arguments before it runs."""

    def __init__(self, next: ActivityInboundInterceptor, stamps: Stamps, migration: Migration) -> None:
        super().__init__(next)
        self._stamps = stamps
        self._migration = migration

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        try:
            self._check(input)
        except UnknownKey as error:  # the key may be added to this worker
            raise ApplicationError(str(error), type=Failure.KEY_UNKNOWN) from None
        return await super().execute_activity(input)

    def _check(self, input: ExecuteActivityInput) -> None:
        info = activity.info()
        was_before = self._migration.precedes(info.scheduled_time)
        if not (was_before and HEADER not in input.headers):
            caller = (info.workflow_id or "", (info.workflow_run_id if info.workflow_id else info.activity_id) or "")
            call = Call.activity(info.namespace, caller, info.task_queue, info.activity_type)
            self._stamps.check(input.headers, call)
        input.args = [_admit(value, was_before) for value in input.args]
        for detail in info.heartbeat_details:
            _admit(detail, was_before)


def _admit(value: Any, was_before: bool) -> Any:
    if not isinstance(value, RefusedArgument):
        return value
    if value.refusal is not Refusal.PLAIN or not was_before:
        refuse(value.refusal)
    return value.convert()
