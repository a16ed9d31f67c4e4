"""Spans of activities, and the request's span carried from the API to the workflows that it starts.

It travels in a header beside the stamps of `orchestrator/sealing/`. Headers of commands are no part of what a replay
compares, so histories replay whether tracing is on or off. See docs/decisions/tracing.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from temporalio import activity, workflow
from temporalio.api.common.v1 import Payload
from temporalio.client import (
    ActivityHandle,
    OutboundInterceptor,
    StartActivityInput,
    StartWorkflowInput,
    StartWorkflowUpdateInput,
    WorkflowHandle,
    WorkflowUpdateHandle,
)
from temporalio.client import Interceptor as ClientInterceptor
from temporalio.worker import (
    ActivityInboundInterceptor,
    ContinueAsNewInput,
    ExecuteActivityInput,
    StartChildWorkflowInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)
from temporalio.worker import Interceptor as WorkerInterceptor
from temporalio.worker import StartActivityInput as WorkflowActivityInput

from orchestrator.logs import context_of
from orchestrator.tracing import spans
from orchestrator.tracing.ids import SpanRef, generation_of

HEADER = "lanista-trace"
_ENCODING = b"binary/lanista-trace"

STARTING = frozenset({"begin_trial", "make_initial_weights", "enter_players"})
"""Activities by which a trial starts: they are part of the request's trace. The trial goes on for days, and all that
comes later would never let that trace end."""

Headers = Mapping[str, Payload]


def with_ref(headers: Headers, ref: SpanRef | None) -> Headers:
    """The headers with this span; unchanged where there is none."""
    if ref is None:
        return headers
    return {**headers, HEADER: Payload(metadata={"encoding": _ENCODING}, data=ref.traceparent.encode())}


def ref_in(headers: Headers) -> SpanRef | None:
    """The span in these headers; None where there is none, or nothing that can be one."""
    payload = headers.get(HEADER)
    return None if payload is None else SpanRef.parse(payload.data.decode(errors="replace"))


class TraceInterceptor(ClientInterceptor, WorkerInterceptor):
    """For a client; a worker takes it from its client."""

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        return _Client(next)

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _Activities(next)

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        return _Workflows


class _Client(OutboundInterceptor):
    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:
        if spans.current() is None:  # nobody's request: reconciliation, for example
            return await super().start_workflow(input)
        with spans.span(f"start {input.workflow}", {"temporal.workflow": input.id}, kind="producer"):
            input.headers = with_ref(input.headers, spans.current())
            return await super().start_workflow(input)

    async def start_workflow_update(self, input: StartWorkflowUpdateInput) -> WorkflowUpdateHandle[Any]:
        if spans.current() is None:
            return await super().start_workflow_update(input)
        with spans.span(f"update {input.update}", {"temporal.workflow": input.id}, kind="client"):
            return await super().start_workflow_update(input)

    async def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:
        input.headers = with_ref(input.headers, spans.current())
        return await super().start_activity(input)


class _Workflows(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_WorkflowCalls(outbound))


class _WorkflowCalls(WorkflowOutboundInterceptor):
    """Hands on what the workflow was started with."""

    def start_activity(self, input: WorkflowActivityInput) -> workflow.ActivityHandle[Any]:
        input.headers = with_ref(input.headers, request_ref())
        return super().start_activity(input)

    async def start_child_workflow(self, input: StartChildWorkflowInput) -> workflow.ChildWorkflowHandle[Any, Any]:
        input.headers = with_ref(input.headers, request_ref())
        return await super().start_child_workflow(input)

    def continue_as_new(self, input: ContinueAsNewInput) -> NoReturn:
        input.headers = with_ref(input.headers, request_ref())
        super().continue_as_new(input)


def request_ref() -> SpanRef | None:
    """The span of the request that started this workflow, or the workflow that started this one."""
    return ref_in(workflow.info().headers)


class _Activities(ActivityInboundInterceptor):
    """A span around an activity: in the generation that its message is about, else in a trace of its own."""

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        info = activity.info()
        message = input.args[0] if input.args else None
        request, generation = ref_in(input.headers), generation_of(message)
        parent, links = generation, [request] if request else []
        if request and (info.activity_type in STARTING or not info.workflow_id):
            parent, links = request, []
        attributes = spans.own(context_of(message) | _names(message)) | {
            "temporal.workflow": info.workflow_id or "",
            "temporal.queue": info.task_queue,
            "temporal.attempt": info.attempt,
            f"{spans.PREFIX}queued_seconds": _queued_seconds(info),
        }
        name = info.activity_type
        with spans.span(name, attributes, parent=parent, root=parent is None, links=links, kind="consumer"):
            return await super().execute_activity(input)


def _names(message: object) -> dict[str, str]:
    """Names for people, where the message has them."""
    names = {name: getattr(message, name, "") for name in ("trial_name", "player_name")}
    return {name: value for name, value in names.items() if value and isinstance(value, str)}


def _queued_seconds(info: activity.Info) -> float:
    """How long this attempt waited for a worker with a free slot."""
    return round((info.started_time - info.current_attempt_scheduled_time).total_seconds(), 3)
