"""Guards workflows: a start, signal or update without the stamp of Lanista is refused; own calls get their stamps.

A refused start fails for good, a refused update is rejected, and a refused signal is dropped with a warning: a stranger
must not halt a league.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, NoReturn

from temporalio import workflow
from temporalio.worker import (
    ContinueAsNewInput,
    ExecuteWorkflowInput,
    HandleSignalInput,
    HandleUpdateInput,
    SignalChildWorkflowInput,
    SignalExternalWorkflowInput,
    StartActivityInput,
    StartChildWorkflowInput,
    WorkflowInboundInterceptor,
    WorkflowOutboundInterceptor,
)
from temporalio.workflow import ActivityHandle, ChildWorkflowHandle

from orchestrator.sealing.converters import SealedPayloadConverter, ServingPayloadConverter
from orchestrator.sealing.errors import NotSealed, UnknownKey
from orchestrator.sealing.purpose import scheduled_as
from orchestrator.sealing.stamps import HEADER, Call, Headers, Stamps

GRACE = timedelta(days=1)
"""How long after sealing began a run from before may still receive what was sent unsealed before."""


@dataclass(frozen=True)
class Migration:
    """When sealing began, in an installation that ran without it before; None where it always sealed."""

    since: datetime | None = None

    def precedes(self, moment: datetime) -> bool:
        """Whether the moment was before sealing began."""
        return self.since is not None and moment < self.since

    @property
    def ends(self) -> datetime:
        return datetime.min.replace(tzinfo=UTC) if self.since is None else self.since + GRACE


class WorkflowGuard(WorkflowInboundInterceptor):
    """Checks what reaches a workflow. A subclass per worker has the stamps."""

    stamps: ClassVar[Stamps]
    migration: ClassVar[Migration]

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_WorkflowStamper(outbound, self.stamps))
        info = outbound.info()
        self._is_old = self.migration.precedes(info.workflow_start_time)
        self._loop: asyncio.AbstractEventLoop | None = None
        # here and not in `execute_workflow`: before the arguments are decoded and the workflow's object is made
        ids = dict.fromkeys((info.workflow_id, scheduled_as(info.workflow_id)))
        self._require(info.headers, *(Call.start(info.namespace, each, info.workflow_type) for each in ids))
        converter = own_converter()
        converter.accepts_plain = self._accepts_plain
        if isinstance(converter, ServingPayloadConverter):
            converter.in_workflow = True
        if self._is_old:
            workflow.memo()  # it came with the start; the SDK keeps what it has converted

    def _accepts_plain(self) -> bool:
        """Whether something unsealed may be part of this run: it began before sealing, and so did the message.

        The time is that of the workflow task, so a replay decides as the first run did. It is also read while the
        SDK converts results, outside of the workflow's event loop: hence the loop's own clock.
        """
        if not self._is_old:
            return False
        return self._loop is None or self._loop.time() < self.migration.ends.timestamp()

    def _require(self, headers: Headers, *calls: Call) -> None:
        if HEADER not in headers and self._accepts_plain():
            return
        self.stamps.check(headers, *calls)

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
        self._loop = asyncio.get_running_loop()
        return await super().execute_workflow(input)

    async def handle_signal(self, input: HandleSignalInput) -> None:
        info = workflow.info()
        try:
            self._require(input.headers, Call.signal(info.namespace, info.workflow_id, input.signal))
        except (NotSealed, UnknownKey) as error:
            workflow.logger.warning("a signal is dropped: %s", error)
            return
        await super().handle_signal(input)

    def handle_update_validator(self, input: HandleUpdateInput) -> None:
        self._require_update(input)
        super().handle_update_validator(input)

    async def handle_update_handler(self, input: HandleUpdateInput) -> Any:
        self._require_update(input)
        return await super().handle_update_handler(input)

    def _require_update(self, input: HandleUpdateInput) -> None:
        info = workflow.info()
        self._require(input.headers, Call.update(info.namespace, info.workflow_id, input.update, input.id))


def own_converter() -> SealedPayloadConverter:
    """The converter of this workflow's run, which the SDK wraps in one of its own."""
    wrapper = workflow.payload_converter()
    converter = getattr(wrapper, "_inner_payload_converter", wrapper)
    if not isinstance(converter, SealedPayloadConverter):
        raise RuntimeError(f"the workflow's payload converter is a {type(converter).__name__}, which does not seal")
    return converter


class _WorkflowStamper(WorkflowOutboundInterceptor):
    """Stamps what a workflow calls."""

    def __init__(self, next: WorkflowOutboundInterceptor, stamps: Stamps) -> None:
        super().__init__(next)
        self._stamps = stamps

    def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:
        info = workflow.info()
        queue = input.task_queue or info.task_queue
        # bound to the run: what a stranger's workflow schedules with a copy of this stamp is refused
        call = Call.activity(info.namespace, (info.workflow_id, info.run_id), queue, input.activity)
        input.headers = self._stamps.add(input.headers, call)
        return super().start_activity(input)

    async def start_child_workflow(self, input: StartChildWorkflowInput) -> ChildWorkflowHandle[Any, Any]:
        call = Call.start(workflow.info().namespace, input.id, input.workflow)
        input.headers = self._stamps.add(input.headers, call)
        return await super().start_child_workflow(input)

    async def signal_child_workflow(self, input: SignalChildWorkflowInput) -> None:
        call = Call.signal(workflow.info().namespace, input.child_workflow_id, input.signal)
        input.headers = self._stamps.add(input.headers, call)
        await super().signal_child_workflow(input)

    async def signal_external_workflow(self, input: SignalExternalWorkflowInput) -> None:
        call = Call.signal(input.namespace, input.workflow_id, input.signal)
        input.headers = self._stamps.add(input.headers, call)
        await super().signal_external_workflow(input)

    def continue_as_new(self, input: ContinueAsNewInput) -> NoReturn:
        info = workflow.info()
        call = Call.start(info.namespace, info.workflow_id, input.workflow or info.workflow_type)
        input.headers = self._stamps.add(input.headers, call)
        if input.memo is None:
            # the server would carry the memo over as it is: unsealed from before, or sealed with a key to be retired
            input.memo = dict(workflow.memo()) or None
        super().continue_as_new(input)
