"""Files of spans."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from orchestrator.tracing import span_files, spans
from orchestrator.tracing.reading import RecordedSpan, read_spans
from orchestrator.tracing.span_files import FileExporter
from orchestrator.tracing.tracer import Tracer

Written = Callable[[], list[RecordedSpan]]


def write(exporter: FileExporter, count: int) -> None:
    tracer = Tracer(exporter, role="tests")
    spans.use(tracer)
    try:
        for number in range(count):
            spans.record(f"span {number}", 1.0, 2.0)
            tracer.flush()
    finally:
        tracer.close()
        spans.use(None)


def test_the_lines_are_otlp_json(traced: Written, tmp_path: Path) -> None:
    """Ids are hexadecimal and enums are numbers, unlike in the JSON of other protocol buffers."""
    with spans.span("work", kind="server"):
        pass
    traced()
    (file,) = (tmp_path / "traces").iterdir()
    (line,) = file.read_text().splitlines()
    (resource,) = json.loads(line)["resourceSpans"]
    assert {"key": "service.name", "value": {"stringValue": "lanista-tests"}} in resource["resource"]["attributes"]
    (span,) = resource["scopeSpans"][0]["spans"]
    assert len(bytes.fromhex(span["traceId"])) == 16 and len(bytes.fromhex(span["spanId"])) == 8
    assert span["kind"] == 2 and int(span["endTimeUnixNano"]) >= int(span["startTimeUnixNano"])


def test_a_full_file_is_followed_by_another_and_old_ones_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_files, "FILE_BYTES", 1)
    monkeypatch.setattr(span_files, "FILES", 3)
    other = tmp_path / "other.jsonl"
    other.write_text("")
    write(FileExporter(tmp_path, "tests"), 8)
    assert other.exists()
    assert {span.name for span in read_spans(tmp_path)} == {"span 6", "span 7"}  # the third is the one to come


def test_half_a_line_is_left_out(traced: Written, tmp_path: Path) -> None:
    with spans.span("work"):
        pass
    traced()
    (file,) = (tmp_path / "traces").iterdir()
    with file.open("a") as end:
        end.write('{"resourceSpans": [{"resour')
    assert [span.name for span in read_spans(tmp_path)] == ["work"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Another user may own the folder, who must not choose what is written to."""
    exporter = FileExporter(tmp_path / "traces", "tests")
    secret = tmp_path / "secret"
    secret.write_text("kept")
    exporter._path.symlink_to(secret)
    with capture_logs() as logs:
        write(exporter, 2)
    assert secret.read_text() == "kept"
    assert [line["event"] for line in logs] == ["spans cannot be written and are lost"]  # once
