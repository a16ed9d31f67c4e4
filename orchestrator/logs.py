"""Logging by structlog: pretty on a terminal, JSON in files, with trial, player and generation where known."""

from __future__ import annotations

import dataclasses
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from structlog.contextvars import bound_contextvars, merge_contextvars
from structlog.typing import Processor
from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from orchestrator.settings import LogSettings
from orchestrator.tracing import spans

CONTEXT_FIELDS = ("project", "trial", "player", "generation", "gate", "tournament")


def configure_logs(settings: LogSettings, *, role: str) -> None:
    """Send structlog's and the standard library's records to stderr in one format."""
    pretty = settings.log_format == "pretty" or (settings.log_format == "auto" and sys.stderr.isatty())
    shared: list[Processor] = [
        merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        _add_role(role),
        _add_trace,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    last: list[Processor] = (
        # plain tracebacks: the rich ones print local variables, and with them secrets
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if pretty
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    for chatty in ("httpx", "httpcore", "alembic", "uvicorn.access"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _add_role(role: str) -> Processor:
    def add(_logger: Any, _method: str, event: Any) -> Any:
        event["role"] = role
        return event

    return add


def _add_trace(_logger: Any, _method: str, event: Any) -> Any:
    if (ref := spans.current()) is not None:
        event["trace_id"], event["span_id"] = ref.trace_hex, ref.span_hex
    return event


def context_of(message: object) -> dict[str, Any]:
    """The fields of a message that every log line about it has."""
    if not dataclasses.is_dataclass(message):
        return {}
    values = {name: getattr(message, name, None) for name in CONTEXT_FIELDS}
    return {name: value for name, value in values.items() if isinstance(value, str | int)}


@contextmanager
def log_context(message: object) -> Iterator[None]:
    """Add the message's trial, player and generation to every line logged inside."""
    with bound_contextvars(**context_of(message)):
        yield


class LogContextInterceptor(Interceptor):
    """Gives every log line of an activity the context of its input, and the attempt when it is not the first."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _ActivityLogContext(next)


class _ActivityLogContext(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        context = context_of(input.args[0]) if input.args else {}
        info = activity.info()
        context["activity"] = info.activity_type
        if info.attempt > 1:
            context["attempt"] = info.attempt
        with bound_contextvars(**context):
            return await super().execute_activity(input)
