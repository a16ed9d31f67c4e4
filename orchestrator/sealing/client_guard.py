"""Stamps the calls that a client makes to Temporal."""

from __future__ import annotations

import inspect
import uuid
from typing import Any

from temporalio.client import (
    ActivityHandle,
    CreateScheduleInput,
    OutboundInterceptor,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleHandle,
    ScheduleUpdate,
    ScheduleUpdateInput,
    SignalWorkflowInput,
    StartActivityInput,
    StartWorkflowInput,
    StartWorkflowUpdateInput,
    UpdateScheduleInput,
    WorkflowHandle,
    WorkflowUpdateHandle,
)

from orchestrator.sealing.stamps import Call, Stamps


class ClientStamper(OutboundInterceptor):
    """Stamps starts, signals, updates, activities and the starts of schedules."""

    def __init__(self, next: OutboundInterceptor, stamps: Stamps, namespace: str) -> None:
        super().__init__(next)
        self._stamps = stamps
        self._namespace = namespace

    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:
        if input.start_signal is not None:
            raise ValueError("a start with a signal has no stamp for the signal: send the signal afterwards")
        input.headers = self._stamps.add(input.headers, Call.start(self._namespace, input.id, input.workflow))
        return await super().start_workflow(input)

    async def signal_workflow(self, input: SignalWorkflowInput) -> None:
        input.headers = self._stamps.add(input.headers, Call.signal(self._namespace, input.id, input.signal))
        await super().signal_workflow(input)

    async def start_workflow_update(self, input: StartWorkflowUpdateInput) -> WorkflowUpdateHandle[Any]:
        input.update_id = input.update_id or str(uuid.uuid4())
        call = Call.update(self._namespace, input.id, input.update, input.update_id)
        input.headers = self._stamps.add(input.headers, call)
        return await super().start_workflow_update(input)

    async def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:
        call = Call.activity(self._namespace, ("", input.id), input.task_queue, input.activity_type)
        input.headers = self._stamps.add(input.headers, call)
        return await super().start_activity(input)

    async def create_schedule(self, input: CreateScheduleInput) -> ScheduleHandle:
        self._stamp_schedule(input.schedule)
        return await super().create_schedule(input)

    async def update_schedule(self, input: UpdateScheduleInput) -> None:
        updater = input.updater

        async def stamped(current: ScheduleUpdateInput) -> ScheduleUpdate | None:
            update = updater(current)
            update = await update if inspect.isawaitable(update) else update
            if update is not None:
                self._stamp_schedule(update.schedule)
            return update

        input.updater = stamped
        await super().update_schedule(input)

    def _stamp_schedule(self, schedule: Schedule) -> None:
        action = schedule.action
        if isinstance(action, ScheduleActionStartWorkflow):
            call = Call.start(self._namespace, action.id, action.workflow)
            action.headers = self._stamps.add(action.headers or {}, call)
