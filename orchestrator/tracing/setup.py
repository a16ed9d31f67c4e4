"""Starts tracing in a process, if the settings say so."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.settings import SettingsError, TraceSettings
from orchestrator.tracing import spans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

INSTALL = "pip install 'lanista[tracing]'"
SETTING = "LANISTA_TRACING"
PACKAGES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http", "opentelemetry.exporter.otlp.proto.common")
EXPORT_TIMEOUT = 5.0
"""Seconds for which one export to a collector is tried; its spans are lost then."""


def require_extra() -> None:
    """Raise SettingsError where the extra is not installed."""
    if missing := [name for name in PACKAGES if not _is_installed(name)]:
        raise SettingsError(f"{SETTING}: tracing needs the extra ({', '.join(missing)} not installed): {INSTALL}")


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # a package above it is missing
        return False


def start_tracing(settings: TraceSettings, *, role: str) -> None:
    """Trace in this process, if the settings ask for it; otherwise nothing of OpenTelemetry is imported."""
    if settings.tracing == "off":
        return
    require_extra()
    from orchestrator.tracing.tracer import Tracer

    spans.use(Tracer(_exporter(settings, role), role=role))


def _exporter(settings: TraceSettings, role: str) -> SpanExporter:
    if settings.tracing == "otlp":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(
            endpoint=settings.trace_endpoint, headers=settings.headers_of_traces, timeout=EXPORT_TIMEOUT
        )
    from orchestrator.tracing.span_files import FileExporter

    folder = Path(settings.trace_folder)
    try:
        exporter = FileExporter(folder, role)
    except OSError as error:
        raise SettingsError(f"LANISTA_TRACE_FOLDER={str(folder)!r}: cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SettingsError(f"LANISTA_TRACE_FOLDER={str(folder)!r}: cannot be written by this user")
    return exporter
