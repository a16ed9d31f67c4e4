"""Tracing is off by default and costs nothing then; it says what it lacks; spans reach a collector."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic import SecretStr

from orchestrator.settings import SettingsError, TraceSettings
from orchestrator.tracing import setup, spans
from orchestrator.tracing.setup import start_tracing
from tests.integration.api.receiver import Receiver

OFF = """
import sys
import lanista
import orchestrator.temporal, orchestrator.workflows.player, workers.crews.crew, api.worker
from orchestrator.settings import TraceSettings
from orchestrator.tracing.setup import start_tracing
start_tracing(TraceSettings(), role="tests")
print([name for name in sys.modules if name.startswith("opentelemetry.sdk") or "otlp" in name])
"""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.stop()


def test_nothing_of_the_sdk_is_imported_while_it_is_off() -> None:
    done = subprocess.run([sys.executable, "-c", OFF], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("kind", ["file", "otlp"])
def test_a_missing_extra_is_named_with_its_command(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "PACKAGES", ("no_such_package.sdk",))
    with pytest.raises(SettingsError, match=r"LANISTA_TRACING: .*pip install 'lanista\[tracing\]'"):
        start_tracing(TraceSettings(tracing=kind), role="tests")
    assert not spans.tracing()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match=r"LANISTA_TRACE_FOLDER=.*cannot be made"):
        start_tracing(TraceSettings(tracing="file", trace_folder=str(tmp_path / "file" / "traces")), role="tests")


def test_a_wrong_setting_says_what_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_TRACING", "yes")
    with pytest.raises(SettingsError, match=r"LANISTA_TRACING='yes': .* Allowed: off, file"):
        TraceSettings.load()


@pytest.mark.parametrize("text", ["no value", "a=b,c", "=b", "a=b\nc=d"])
def test_headers_without_a_name_are_refused_and_not_shown(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_TRACE_HEADERS", text)
    with pytest.raises(SettingsError, match=r"LANISTA_TRACE_HEADERS=\(hidden\): must be name=value") as refused:
        TraceSettings.load()
    assert text not in str(refused.value)


def test_headers_are_read() -> None:
    settings = TraceSettings(trace_headers=SecretStr("X-Key=a=b, other=c d"))
    assert settings.headers_of_traces == {"x-key": "a=b", "other": "c d"}


def test_a_collector_gets_spans_by_otlp(receiver: Receiver) -> None:
    receiver.answer = lambda request: 200
    receiver.start()
    headers = SecretStr("x-key=secret")
    start_tracing(TraceSettings(tracing="otlp", trace_endpoint=receiver.url, trace_headers=headers), role="tests")
    with spans.closing(), spans.span("work"):
        inside = spans.current()
    (request,) = receiver.received
    assert request.headers["x-key"] == "secret"
    (resource,) = ExportTraceServiceRequest.FromString(request.body).resource_spans
    (span,) = resource.scope_spans[0].spans
    assert inside is not None and (span.name, span.trace_id.hex()) == ("work", inside.trace_hex)


def test_a_collector_that_is_away_does_not_hold_up_the_end(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    from orchestrator.tracing import tracer

    monkeypatch.setattr(tracer, "CLOSE_SECONDS", 0.2)
    start_tracing(TraceSettings(tracing="otlp", trace_endpoint=receiver.url), role="tests")
    with spans.closing(), spans.span("work"):
        pass
    assert not spans.tracing()
