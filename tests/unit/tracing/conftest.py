"""Tracing into a folder; it ends with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator.settings import TraceSettings
from orchestrator.tracing import spans
from orchestrator.tracing.reading import RecordedSpan, read_spans
from orchestrator.tracing.setup import start_tracing


@pytest.fixture
def traced(tmp_path: Path) -> Iterator[Callable[[], list[RecordedSpan]]]:
    """Traces, and gives what was written once it has ended."""
    start_tracing(TraceSettings(tracing="file", trace_folder=str(tmp_path / "traces")), role="tests")

    def written() -> list[RecordedSpan]:
        with spans.closing():
            pass
        return sorted(read_spans(tmp_path / "traces"), key=lambda span: span.started)

    yield written
    with spans.closing():
        pass
