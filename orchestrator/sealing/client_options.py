"""The options of a Temporal client that seals: a data converter and an interceptor. Its workers get them as well."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from temporalio.client import Interceptor as ClientInterceptor
from temporalio.client import OutboundInterceptor
from temporalio.converter import DataConverter
from temporalio.worker import ActivityInboundInterceptor, WorkflowInboundInterceptor, WorkflowInterceptorClassInput
from temporalio.worker import Interceptor as WorkerInterceptor

from orchestrator.sealing.activity_guard import ActivityGuard
from orchestrator.sealing.client_guard import ClientStamper
from orchestrator.sealing.codec import SealingCodec
from orchestrator.sealing.converters import SealedPayloadConverter, ServingPayloadConverter
from orchestrator.sealing.keys import KeyRing
from orchestrator.sealing.stamps import Stamps
from orchestrator.sealing.workflow_guard import Migration, WorkflowGuard


class SealingInterceptor(ClientInterceptor, WorkerInterceptor):
    """Stamps calls and checks stamps. A worker takes it from its client."""

    def __init__(self, keys: KeyRing, namespace: str, since: datetime | None) -> None:
        self._stamps = Stamps(keys)
        self._namespace = namespace
        self._migration = Migration(since)

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        return ClientStamper(next, self._stamps, self._namespace)

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return ActivityGuard(next, self._stamps, self._migration)

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        class Guard(WorkflowGuard):
            stamps = self._stamps
            migration = self._migration

        return Guard


class SealedOptions(TypedDict):
    """Arguments of `Client.connect`, and of a Replayer."""

    data_converter: DataConverter
    interceptors: list[SealingInterceptor]


def sealed_options(
    keys: KeyRing, *, namespace: str, since: datetime | None = None, serves: bool = False
) -> SealedOptions:
    """The options of a client that seals. `serves`: workers are made from it."""
    converter = ServingPayloadConverter if serves else SealedPayloadConverter
    return SealedOptions(
        data_converter=DataConverter(payload_converter_class=converter, payload_codec=SealingCodec(keys)),
        interceptors=[SealingInterceptor(keys, namespace, since)],
    )
