"""The only module, beside the exporters, that imports OpenTelemetry."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from orchestrator.tracing.ids import SpanRef
from orchestrator.tracing.spans import PREFIX, Attributes, Span

EXPORT_SECONDS = 1.0
"""How long a span waits for others to be written with it."""
CLOSE_SECONDS = 3
"""How long the end of a process may wait for spans to be written: a collector may be away."""
LONGEST_PROBLEM = 500

_SCOPE = "lanista"
_IDS = RandomIdGenerator()


class _Under(Span):
    """A span of OpenTelemetry that is under way."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def set(self, **attributes: str | int | float | bool) -> None:
        self.add({f"{PREFIX}{name}": value for name, value in attributes.items()})

    def add(self, attributes: Attributes) -> None:
        self._span.set_attributes(attributes)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, problem: str) -> None:
        self._span.set_status(Status(StatusCode.ERROR, problem[:LONGEST_PROBLEM]))


class Tracer:
    """Makes spans and exports them. It is no global provider of OpenTelemetry: users' code may have its own."""

    def __init__(self, exporter: SpanExporter, *, role: str, processor: SpanProcessor | None = None) -> None:
        self._resource = Resource(
            {
                "service.name": f"lanista-{role}",
                "service.version": version("lanista"),
                "service.instance.id": f"{socket.gethostname()}-{os.getpid()}",
                "host.name": socket.gethostname(),
                "process.pid": os.getpid(),
            }
        )
        self._processor = processor or BatchSpanProcessor(exporter, schedule_delay_millis=1000 * EXPORT_SECONDS)
        # spans are few, and a trace lacks sense without its half: a collector may choose among whole ones
        self._provider = TracerProvider(sampler=ALWAYS_ON, resource=self._resource, shutdown_on_exit=False)
        self._provider.add_span_processor(self._processor)
        self._tracer = self._provider.get_tracer(_SCOPE)
        self._scope = InstrumentationScope(_SCOPE)

    @contextmanager
    def span(
        self,
        name: str,
        attributes: Attributes,
        *,
        parent: SpanRef | None,
        root: bool,
        links: Sequence[SpanRef],
        kind: str,
    ) -> Iterator[Span]:
        context = contexts.get_current()
        if parent is not None or root:
            above = _context(parent) if parent else trace.INVALID_SPAN_CONTEXT
            context = trace.set_span_in_context(trace.NonRecordingSpan(above), context)
        started = self._tracer.start_as_current_span(
            name,
            context=context,
            kind=SpanKind[kind.upper()],
            attributes=attributes,
            links=[Link(_context(link)) for link in links],
            # the log has the traceback, and the ids of the span
            record_exception=False,
            set_status_on_exception=False,
        )
        with started as opened:
            under = _Under(opened)
            try:
                yield under
            except BaseException as error:
                under.fail(f"{type(error).__name__}: {error}")
                raise

    def record(
        self,
        name: str,
        started: float,
        ended: float,
        attributes: Attributes,
        *,
        parent: SpanRef | None,
        own: SpanRef | None,
        links: Sequence[SpanRef],
        problem: str,
    ) -> SpanRef:
        """Export a span that has ended."""
        if own is None:
            own = SpanRef(parent.trace if parent else _IDS.generate_trace_id(), _IDS.generate_span_id())
        status = Status(StatusCode.ERROR, problem[:LONGEST_PROBLEM]) if problem else Status(StatusCode.UNSET)
        self._processor.on_end(
            ReadableSpan(
                name,
                context=_context(own),
                parent=_context(parent) if parent else None,
                resource=self._resource,
                attributes=attributes,
                links=[Link(_context(link)) for link in links],
                kind=SpanKind.INTERNAL,
                instrumentation_scope=self._scope,
                status=status,
                start_time=round(1e9 * started),
                end_time=round(1e9 * max(started, ended)),
            )
        )
        return own

    def current(self) -> SpanRef | None:
        """The span under way in this context."""
        context = trace.get_current_span().get_span_context()
        return SpanRef(context.trace_id, context.span_id) if context.is_valid else None

    def flush(self) -> None:
        """Export what is waiting."""
        self._processor.force_flush()

    def close(self) -> None:
        """Export what is waiting, if that is possible soon, and end."""
        closing = threading.Thread(target=self._provider.shutdown, name="close-tracing", daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)


def _context(ref: SpanRef) -> SpanContext:
    return SpanContext(ref.trace, ref.span, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
