"""Spans as files: one line of JSON for each export, in OTLP's own JSON, so that a collector can read them later."""

from __future__ import annotations

import base64
import json
import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import structlog
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from orchestrator.tracing.reading import spans_in

log = structlog.get_logger()

FILE_BYTES = 8 << 20
"""A file that has grown to this size is followed by another one."""
FILES = 8
"""As many are kept of a role on a host; older ones are deleted."""
_IDS = ("traceId", "spanId", "parentSpanId")


class FileExporter(SpanExporter):
    """Appends to files of this process alone, so that processes and hosts can share the folder."""

    def __init__(self, folder: Path, role: str) -> None:
        self._folder = folder
        self._group = f"{role}-{socket.gethostname()}"
        self._path = self._next_path()
        self._failed = ""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        line = json.dumps(otlp_json(spans), separators=(",", ":")) + "\n"
        try:
            self._append(line)
        except OSError as error:  # a full disk must not stop a league, nor fill its log
            if self._failed != str(error):
                self._failed = str(error)
                log.warning("spans cannot be written and are lost", problem=self._failed)
            return SpanExportResult.FAILURE
        self._failed = ""
        return SpanExportResult.SUCCESS

    def _append(self, line: str) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o640)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(line)
            full = file.tell() >= FILE_BYTES
        if full:
            self._path = self._next_path()
            self._remove_old()

    def _next_path(self) -> Path:
        return self._folder / f"{self._group}-{time.time_ns()}-{os.getpid()}.jsonl"

    def _remove_old(self) -> None:
        files = sorted(self._folder.glob(f"{self._group}-*.jsonl"), key=lambda path: path.stat().st_mtime)
        for path in files[: max(0, len(files) + 1 - FILES)]:
            path.unlink(missing_ok=True)


def otlp_json(spans: Sequence[ReadableSpan]) -> dict[str, Any]:
    """The spans as OTLP's JSON has them, where ids are hexadecimal and enums are numbers."""
    message: dict[str, Any] = MessageToDict(encode_spans(spans), use_integers_for_enums=True)
    for span in spans_in(message):
        for part in (span, *span.get("links", ())):
            for name in _IDS:
                if name in part:
                    part[name] = base64.b64decode(part[name]).hex()
    return message
