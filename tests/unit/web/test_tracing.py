"""Traces of requests: those that change something, and those whose caller traces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from api.web.middleware.request_metrics import HttpMetrics, ObserveRequests
from api.web.middleware.tracing import TraceRequests
from orchestrator.settings import TraceSettings
from orchestrator.tracing import spans
from orchestrator.tracing.ids import SpanRef, generation_ref
from orchestrator.tracing.reading import RecordedSpan, read_spans
from orchestrator.tracing.setup import start_tracing

Written = Callable[[], list[RecordedSpan]]


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Written]:
    start_tracing(TraceSettings(tracing="file", trace_folder=str(tmp_path)), role="api")

    def read() -> list[RecordedSpan]:
        with spans.closing():
            pass
        return sorted(read_spans(tmp_path), key=lambda span: span.started)

    yield read
    read()


async def answer(request: Request) -> PlainTextResponse:
    if request.path_params["name"] == "broken":
        raise RuntimeError("a secret path")
    with spans.span("start TrialWorkflow"):
        return PlainTextResponse("done")


@pytest.fixture
def client() -> httpx.AsyncClient:
    app = Starlette(routes=[Route("/trials/{name}", answer, methods=["GET", "POST"])])
    app.add_middleware(ObserveRequests, metrics=HttpMetrics())
    app.add_middleware(TraceRequests)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://lanista")


async def test_a_request_that_changes_something_begins_a_trace(client: httpx.AsyncClient, written: Written) -> None:
    response = await client.post("/trials/mine")
    request, start = written()
    assert request.attributes["http.response.status_code"] == 200
    assert request.attributes["http.request.method"] == "POST"
    assert request.own("request_id") == response.headers["x-request-id"]
    assert (request.parent, start.parent, start.trace) == ("", request.id, request.trace)
    assert "mine" not in request.name


async def test_a_read_is_traced_only_for_a_caller_that_traces(client: httpx.AsyncClient, written: Written) -> None:
    caller = generation_ref("t", "p", 1)
    await client.get("/trials/mine")
    await client.get("/trials/mine", headers={"traceparent": "00-nonsense"})
    await client.get("/trials/mine", headers={"traceparent": caller.traceparent})
    request = next(span for span in written() if span.name.startswith("GET"))
    assert (request.trace, request.parent) == (caller.trace_hex, caller.span_hex)


async def test_a_failed_request_is_marked(client: httpx.AsyncClient, written: Written) -> None:
    assert (await client.post("/trials/broken")).status_code == 500
    (request,) = written()
    assert request.problem == "status 500"


async def test_requests_do_not_share_a_trace(client: httpx.AsyncClient, written: Written) -> None:
    await client.post("/trials/one")
    await client.post("/trials/two")
    assert len({SpanRef(int(span.trace, 16), 1) for span in written()}) == 2
