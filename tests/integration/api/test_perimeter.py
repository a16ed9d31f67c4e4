"""The outermost walls: hosts, sizes, rates, headers, and problems in one form."""

from __future__ import annotations

import logging
import socket
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from api.schemas.enums import Scope
from api.web.auth.rate_limits import RateLimit
from api.web.middleware.host_and_size import allowed_hosts
from api.web.routes import projects
from tests.integration.api.server import PLAIN, Served, running_api


def test_a_foreign_host_name_is_refused(api: Served) -> None:
    for host in ("evil.example", "evil.example:8800", "127.0.0.1.evil.example", ""):
        answer = httpx.get(f"{api.base}/healthz", headers={"Host": host}, **PLAIN)
        assert answer.status_code == 400, host
        assert answer.headers["content-type"] == "application/problem+json"
    assert httpx.get(f"{api.base}/healthz", headers={"Host": "localhost:1"}, **PLAIN).status_code == 200


def test_two_host_headers_are_refused(api: Served) -> None:
    """A proxy in front may check the one and we would use the other."""
    address = httpx.URL(api.base)
    for second in ("evil.example", f"{address.host}:{address.port}"):
        with socket.create_connection((address.host, address.port or 80), timeout=60) as connection:
            lines = ("GET /healthz HTTP/1.1", f"Host: {address.host}", f"Host: {second}", "Connection: close", "", "")
            connection.sendall("\r\n".join(lines).encode())
            assert connection.recv(65_536).startswith(b"HTTP/1.1 400 ")


def test_host_names_can_be_added_and_the_check_turned_off() -> None:
    names = allowed_hosts("::1", "league.example, Other.Example")
    assert names is not None and {"league.example", "other.example", "[::1]", "localhost"} <= names
    assert allowed_hosts("0.0.0.0", "*") is None


def test_every_answer_carries_the_security_headers(api: Served) -> None:
    for path in ("/healthz", "/api/v1/trials", "/nothing", "/"):
        headers = httpx.get(f"{api.base}{path}", **PLAIN).headers
        policy = headers["content-security-policy"]
        assert "script-src 'self';" in policy and "style-src 'self' 'unsafe-inline'" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
    assert httpx.get(f"{api.base}/api/v1/trials", **PLAIN).headers["cache-control"] == "no-store"


def test_unknown_paths_and_methods_are_problems_too(admin: httpx.Client) -> None:
    missing = admin.get("/api/v1/nothing")
    assert (missing.status_code, missing.json()["status"]) == (404, 404)
    wrong = admin.delete("/api/v1/trials")
    assert wrong.status_code == 405 and wrong.json()["title"] == "Method Not Allowed"
    assert "GET" in wrong.headers["allow"]
    for method in ("GET", "DELETE"):  # "validate" is no trial's id
        literal = admin.request(method, "/api/v1/trials/validate")
        assert (literal.status_code, literal.headers.get("allow")) == (405, "POST")
    assert admin.get("/api/v1/trials/nothing").status_code == 422
    for answer in (missing, wrong, literal):
        assert answer.headers["content-type"] == "application/problem+json"


def test_text_that_cannot_be_stored_is_refused_and_not_a_crash(operator: httpx.Client) -> None:
    headers = {"Content-Type": "application/json"}
    for text in ('{"name": "a", "spec": {"game": {"id": "\\u0000"}}}', '{"name": "\\ud800", "spec": {}}', "{", "[1"):
        answer = operator.post("/api/v1/trials", content=text, headers=headers)
        assert answer.status_code == 422, text
        assert answer.json()["status"] == 422
    assert operator.get("/api/v1/trials", params={"project": "\x00"}).status_code == 422


def test_a_body_may_not_be_too_large(api: Served, operator: httpx.Client) -> None:
    large = b'{"name": "' + b"a" * api.settings.max_body_bytes + b'"}'
    declared = operator.post("/api/v1/tournaments", content=large)
    assert declared.status_code == 413 and str(api.settings.max_body_bytes) in declared.json()["detail"]
    trial = operator.post("/api/v1/trials", content=large)
    assert trial.status_code == 413 and str(2 * api.settings.max_trial_bytes) in trial.json()["detail"]
    undeclared = operator.post("/api/v1/tournaments", content=iter([large[:1000]] * 2000))
    assert undeclared.status_code == 413


def test_rates_are_limited_per_token_and_failures_per_address(
    fresh_postgres_url: str, temporal_address: str, tmp_path: Path
) -> None:
    limits = {"rate_limit": 0.001, "rate_burst": 3, "failed_sign_ins": 2.0}
    with (
        running_api(fresh_postgres_url, temporal_address, tmp_path, **limits) as api,
        api.client(Scope.VIEWER) as one,
        api.client(Scope.ADMIN) as other,
    ):
        assert [one.get("/api/v1/session").status_code for _ in range(5)] == [200, 200, 200, 429, 429]
        limited = one.get("/api/v1/session")
        assert int(limited.headers["retry-after"]) > 1 and limited.json()["status"] == 429
        assert other.get("/api/v1/session").status_code == 200
        for _ in range(2):
            assert other.post("/api/v1/session", json={"token": "guessed"}).status_code == 401
        assert other.post("/api/v1/session", json={"token": "guessed"}).status_code == 429
        assert other.get("/api/v1/session").status_code == 200, "a valid token is not refused for invalid ones"


def test_a_bucket_fills_at_its_rate() -> None:
    now = [0.0]
    limit = RateLimit(2.0, 2, clock=lambda: now[0])
    assert [limit.wait_for("a"), limit.wait_for("a")] == [0.0, 0.0]
    assert limit.wait_for("a") == pytest.approx(0.5)
    assert limit.wait_for("b") == 0.0
    now[0] = 0.5
    assert limit.wait_for("a") == 0.0


def test_what_nobody_foresaw_is_a_problem_with_a_name_and_no_more(
    viewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("password=hush")

    monkeypatch.setattr(projects, "list_projects", broken)
    with capture_logs() as logged:
        answer = viewer.get("/api/v1/projects")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "hush" not in answer.text and "Traceback" not in answer.text and "RuntimeError" not in answer.text
    body = answer.json()
    assert body["request_id"] == answer.headers["x-request-id"] and body["request_id"] in body["detail"]
    (entry,) = (line for line in logged if line["event"] == "request failed")
    assert (entry["path"], entry["log_level"]) == ("/api/v1/projects", "error")
    assert str(entry["exc_info"]) == "password=hush", "the log has what the answer hides"
    monkeypatch.undo()
    assert viewer.get("/api/v1/projects").headers["x-request-id"] != body["request_id"]


def test_secrets_stay_out_of_the_log(api: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with api.client(Scope.ADMIN) as client:
        made = client.post("/api/v1/tokens", json={"name": "logged?"}).json()
        client.post("/api/v1/session", json={"token": made["token"]})
        client.get("/api/v1/trials?limit=0")
    assert made["token"] not in caplog.text and api.tokens[Scope.ADMIN] not in caplog.text
