"""The outermost layer of the API, and the readiness checks, without any server."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import create_engine

from api.web.live import health_checks
from api.web.live.health_checks import HealthChecks
from api.web.middleware.request_metrics import SECURITY_HEADERS, HttpMetrics, ObserveRequests


@pytest.fixture
def app() -> FastAPI:
    made = FastAPI()
    made.state.metrics = HttpMetrics()
    made.add_middleware(ObserveRequests, metrics=made.state.metrics)

    @made.get("/things/{thing}")
    async def thing(thing: str) -> str:
        if thing == "broken":
            raise RuntimeError("password=hush")
        return thing

    return made


async def ask(app: FastAPI, method: str, path: str) -> httpx.Response:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:
        return await client.request(method, path)


def count(app: FastAPI, method: str, route: str, status: str) -> float:
    labels = {"method": method, "route": route, "status": status}
    return app.state.metrics.registry.get_sample_value("lanista_http_requests_total", labels) or 0.0


@pytest.mark.parametrize("path", ["/things/one", "/things/broken", "/nothing"])
async def test_every_answer_carries_the_security_headers(app: FastAPI, path: str) -> None:
    answer = await ask(app, "GET", path)
    assert {name: answer.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS


async def test_a_failure_of_ours_is_a_problem_document_and_tells_no_secret(app: FastAPI) -> None:
    answer = await ask(app, "GET", "/things/broken")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "hush" not in answer.text
    assert count(app, "GET", "/things/{thing}", "500") == 1


async def test_requests_are_counted_by_route_and_not_by_path(app: FastAPI) -> None:
    for name in ("one", "two"):
        await ask(app, "GET", f"/things/{name}")
    assert count(app, "GET", "/things/{thing}", "200") == 2


async def test_invented_methods_make_no_time_series_of_their_own(app: FastAPI) -> None:
    for method in ("BREW", "STEEP"):
        await ask(app, method, "/things/one")
    assert count(app, "(other)", "/things/{thing}", "405") == 2


async def test_a_part_that_hangs_is_asked_once_by_all_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, let_go = [], asyncio.Event()

    async def hang(self: Any) -> str:
        asked.append(self)
        await let_go.wait()
        return "PostgreSQL 18"

    async def answer(self: Any) -> str:
        return "Temporal 1"

    monkeypatch.setattr(health_checks, "TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr(HealthChecks, "_postgres", hang)
    monkeypatch.setattr(HealthChecks, "_temporal", answer)
    checks = HealthChecks(create_engine("postgresql+psycopg://"), None, "")  # type: ignore[arg-type]
    answers = await asyncio.gather(*(checks.run() for _ in range(5)))
    assert len(asked) == 1
    assert {(each.ready, each.parts["postgres"].ok, each.parts["temporal"].ok) for each in answers} == {
        (False, False, True)
    }
    let_go.set()
    await asyncio.sleep(0)
    assert (await checks.run()).ready, "after it came back the part is well again"


async def test_an_unreachable_ray_is_told_without_a_stack_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(self: Any) -> str:
        return "fine"

    monkeypatch.setattr(HealthChecks, "_postgres", answer)
    monkeypatch.setattr(HealthChecks, "_temporal", answer)
    checks = HealthChecks(create_engine("postgresql+psycopg://"), None, "127.0.0.1:1")  # type: ignore[arg-type]
    found = await checks.run()
    assert not found.ready and found.parts["ray"].detail == "not reachable: ConnectionRefusedError"
