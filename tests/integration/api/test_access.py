"""Who may not, cannot: every call of the OpenAPI document, for every scope, by token and by cookie."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from api.schemas.enums import Scope
from api.settings import ApiSettings
from api.store.core.ids import new_id
from api.web.app import create_app
from tests.integration.api.server import PLAIN, Served

OPEN_CALLS = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("POST", "/api/v1/session"),
    ("GET", "/shared"),
}
OPERATORS = {
    ("GET", "/api/v1/code/{sha256}"),
    ("POST", "/api/v1/trials"),
    ("PATCH", "/api/v1/trials/{trial_id}"),
    ("POST", "/api/v1/trials/{trial_id}/pause"),
    ("POST", "/api/v1/trials/{trial_id}/resume"),
    ("POST", "/api/v1/trials/{trial_id}/stop"),
    ("POST", "/api/v1/trials/{trial_id}/fork"),
    ("POST", "/api/v1/trials/{trial_id}/archive"),
    ("POST", "/api/v1/trials/{trial_id}/players"),
    ("PATCH", "/api/v1/players/{player_id}"),
    ("POST", "/api/v1/gates/{gate_id}/stop"),
    ("PUT", "/api/v1/projects/{name}/aliases/{alias}"),
    ("POST", "/api/v1/projects/{name}/aliases/{alias}/rollback"),
    ("POST", "/api/v1/projects/{name}/aliases/{alias}/canaries"),
    ("POST", "/api/v1/versions"),
    ("POST", "/api/v1/tournaments"),
    ("POST", "/api/v1/tournaments/{tournament_id}/cancel"),
    ("POST", "/api/v1/probes"),
    ("POST", "/api/v1/probes/{probe_id}/stop"),
    ("POST", "/api/v1/sweeps"),
    ("POST", "/api/v1/sweeps/{sweep_id}/pause"),
    ("POST", "/api/v1/sweeps/{sweep_id}/resume"),
    ("POST", "/api/v1/sweeps/{sweep_id}/stop"),
    ("POST", "/api/v1/schedules"),
    ("PATCH", "/api/v1/schedules/{schedule_id}"),
    ("DELETE", "/api/v1/schedules/{schedule_id}"),
    ("POST", "/api/v1/schedules/{schedule_id}/trigger"),
    ("GET", "/api/v1/shares"),
    ("POST", "/api/v1/shares"),
    ("DELETE", "/api/v1/shares/{share_id}"),
    ("GET", "/api/v1/alerts/channels"),
    ("GET", "/api/v1/alerts/channels/{channel_id}"),
    ("POST", "/api/v1/alerts/channels/{channel_id}/test"),
    ("GET", "/api/v1/alerts/rules"),
    ("POST", "/api/v1/alerts/rules"),
    ("DELETE", "/api/v1/alerts/rules/{rule_id}"),
    ("GET", "/api/v1/alerts/deliveries"),
    ("POST", "/api/v1/alerts/deliveries/{delivery_id}/retry"),
}
CODERS = {("POST", "/api/v1/code")}
ADMINS = {
    ("POST", "/api/v1/alerts/channels"),
    ("PATCH", "/api/v1/alerts/channels/{channel_id}"),
    ("DELETE", "/api/v1/alerts/channels/{channel_id}"),
    ("GET", "/api/v1/tokens"),
    ("POST", "/api/v1/tokens"),
    ("DELETE", "/api/v1/tokens/{token_id}"),
    ("GET", "/api/v1/audit"),
    ("PATCH", "/api/v1/projects/{name}"),
    ("GET", "/api/v1/system/logs"),
    ("GET", "/api/v1/system/logs/{part}"),
}


def calls() -> list[tuple[str, str]]:
    document = create_app(ApiSettings()).openapi()
    return [(method.upper(), path) for path, methods in document["paths"].items() for method in methods]


def needed(call: tuple[str, str]) -> Scope:
    if call in CODERS:
        return Scope.CODE
    return Scope.ADMIN if call in ADMINS else Scope.OPERATOR if call in OPERATORS else Scope.VIEWER


def send(client: httpx.Client, call: tuple[str, str], **headers: str) -> httpx.Response:
    """The call with ids that name nothing and a body that holds nothing: enough to see who is let in."""
    method, path = call
    path = re.sub(r"\{match_id\}", "0", path)
    path = re.sub(r"\{(name|alias)\}", "nobody", path)
    path = re.sub(r"\{\w+\}", new_id(), path)
    if path.endswith("/events"):
        path += "?after=-1"
    body = {} if method in ("GET", "DELETE") else {"json": {}}
    return client.request(method, path, headers=headers, **body)  # type: ignore[arg-type]


CALLS = calls()
GUARDED = [call for call in CALLS if call not in OPEN_CALLS]


def test_the_table_names_only_calls_that_exist() -> None:
    assert set(CALLS) >= OPEN_CALLS
    for call in (OPERATORS | ADMINS) - set(CALLS):
        assert re.search(r"/(fork|versions|tournaments|schedules)", call[1]), call


@pytest.mark.parametrize("call", GUARDED, ids=" ".join)
def test_without_a_valid_token_nobody_gets_in(api: Served, call: tuple[str, str]) -> None:
    with api.client(None) as client:
        for headers in (
            {},
            {"Authorization": "Bearer lanista_wrong"},
            {"Authorization": "Basic YTpi"},
            {"Authorization": "Bearer"},
            {"Cookie": "lanista_session=forged.1.x"},
        ):
            answer = send(client, call, **headers)
            assert answer.status_code == 401, headers
            assert answer.headers["content-type"] == "application/problem+json"
            assert "bearer" in answer.headers["www-authenticate"].lower()
            assert "lanista_wrong" not in answer.text


@pytest.mark.parametrize("call", GUARDED, ids=" ".join)
def test_each_scope_may_what_it_may(api: Served, call: tuple[str, str]) -> None:
    for scope in Scope:
        with api.client(scope) as client:
            if call == ("DELETE", "/api/v1/session"):
                continue
            answer = send(client, call)
            allowed = list(Scope).index(scope) >= list(Scope).index(needed(call))
            assert (answer.status_code != 403) == allowed, (scope, answer.text)
            assert answer.status_code != 401
            if not allowed:
                assert answer.json()["needed_scope"] == needed(call)


def test_every_call_is_guarded_and_says_so() -> None:
    document = create_app(ApiSettings()).openapi()
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            guarded = (method.upper(), path) not in OPEN_CALLS
            assert bool(call.get("security")) == guarded, (method, path)
            assert call["summary"] and call["description"]
            if guarded:
                assert {"401", "403", "429"} <= set(call["responses"])


class Browser:
    """A person's browser: keeps cookies, sends the word its page was given."""

    def __init__(self, api: Served, scope: Scope) -> None:
        self.client = httpx.Client(base_url=api.base, **PLAIN)
        answer = self.client.post("/api/v1/session", json={"token": api.tokens[scope]})
        assert answer.status_code == 201, answer.text
        self.signed_in: dict[str, Any] = answer.json()
        self.cookie = answer.headers["set-cookie"]
        self.word = {"X-CSRF-Token": self.signed_in["csrf_token"]}


@pytest.fixture
def browser(api: Served) -> Iterator[Browser]:
    person = Browser(api, Scope.ADMIN)
    yield person
    person.client.close()


def test_a_browser_signs_in_with_a_cookie_that_scripts_cannot_read(api: Served, browser: Browser) -> None:
    assert "HttpOnly" in browser.cookie and "samesite=strict" in browser.cookie.lower()
    assert api.tokens[Scope.ADMIN] not in browser.cookie
    me = browser.client.get("/api/v1/session", headers=browser.word).json()
    assert (me["name"], me["scope"], me["csrf_token"]) == ("a admin", "admin", browser.signed_in["csrf_token"])


def test_a_change_by_cookie_needs_the_word_and_our_own_origin(api: Served, browser: Browser) -> None:
    new = {"name": "from a browser"}
    assert browser.client.post("/api/v1/tokens", json=new).status_code == 403
    assert browser.client.post("/api/v1/tokens", json=new, headers={"X-CSRF-Token": "x"}).status_code == 403
    foreign = {**browser.word, "Origin": "http://evil.example"}
    assert browser.client.post("/api/v1/tokens", json=new, headers=foreign).status_code == 403
    ours = {**browser.word, "Origin": api.base}
    assert browser.client.post("/api/v1/tokens", json=new, headers=ours).status_code == 201


def test_one_sessions_word_is_not_anothers(api: Served, browser: Browser) -> None:
    other = Browser(api, Scope.VIEWER)
    other.client.close()
    assert browser.client.post("/api/v1/tokens", json={"name": "x"}, headers=other.word).status_code == 403


def test_a_page_of_another_site_cannot_sign_anyone_in(api: Served) -> None:
    body = {"token": api.tokens[Scope.ADMIN]}
    answer = httpx.post(f"{api.base}/api/v1/session", json=body, headers={"Origin": "http://evil.example"}, **PLAIN)
    assert answer.status_code == 403


def test_a_revoked_token_and_its_sessions_end_at_once(api: Served, admin: httpx.Client) -> None:
    made = admin.post("/api/v1/tokens", json={"name": "short lived", "scope": "operator"}).json()
    bearer = {"Authorization": f"Bearer {made['token']}"}
    with httpx.Client(base_url=api.base, **PLAIN) as person:
        signed_in = person.post("/api/v1/session", json={"token": made["token"]})
        word = {"X-CSRF-Token": signed_in.json()["csrf_token"]}
        assert person.get("/api/v1/session", headers=word).json()["scope"] == "operator"
        assert httpx.get(f"{api.base}/api/v1/session", headers=bearer, **PLAIN).status_code == 200
        assert admin.delete(f"/api/v1/tokens/{made['id']}").status_code == 204
        assert person.get("/api/v1/session", headers=word).status_code == 401
    assert httpx.get(f"{api.base}/api/v1/session", headers=bearer, **PLAIN).status_code == 401
    listed = {row["id"]: row for row in admin.get("/api/v1/tokens", params={"limit": 500}).json()["items"]}
    assert listed[made["id"]]["revoked_at"] is not None and listed[made["id"]]["last_used_at"] is not None
    assert "token" not in listed[made["id"]]


def test_a_tokens_secret_is_shown_once_and_kept_nowhere(api: Served, admin: httpx.Client) -> None:
    key = {"Idempotency-Key": new_id()}
    first = admin.post("/api/v1/tokens", json={"name": "twice asked"}, headers=key).json()
    second = admin.post("/api/v1/tokens", json={"name": "twice asked"}, headers=key).json()
    assert first["token"].startswith("lanista_") and second["token"] is None
    assert first["id"] == second["id"]
    with api.sessions() as session:
        for table in ("api_tokens", "audit_log", "idempotency_keys", "events"):
            rows = session.execute(text(f"SELECT row_to_json(t)::text FROM {table} t")).scalars().all()
            assert not [row for row in rows if first["token"] in row], table


def test_an_expired_token_is_refused(api: Served, admin: httpx.Client) -> None:
    made = admin.post("/api/v1/tokens", json={"name": "expires", "expires_in_days": 1}).json()
    assert made["expires_at"] is not None
    with api.sessions.begin() as session:
        session.execute(
            text("UPDATE api_tokens SET created_at = now() - interval '2 days', expires_at = now() WHERE id = :id"),
            {"id": made["id"]},
        )
    answer = httpx.get(f"{api.base}/api/v1/session", headers={"Authorization": f"Bearer {made['token']}"}, **PLAIN)
    assert answer.status_code == 401
