"""Signing in with a one-time code: as the token that asked for it, once, soon, and from our own page."""

from __future__ import annotations

import time

import httpx
import pytest
from sqlalchemy import select, text

from api.schemas.enums import Scope
from api.store.core.ids import new_id
from api.store.tables import AuditEntry
from api.web.auth import sign_in_codes
from api.web.auth.sessions import SessionSigner
from api.web.auth.sign_in_codes import issue_code, read_code
from tests.integration.api.server import PLAIN, Served


def made(api: Served, scope: Scope) -> str:
    with api.client(scope) as client:
        answer = client.post("/api/v1/session/codes")
    assert answer.status_code == 201 and answer.headers["cache-control"] == "no-store"
    return str(answer.json()["code"])


@pytest.mark.parametrize("scope", list(Scope))
def test_a_code_opens_one_session_of_its_maker(api: Served, scope: Scope) -> None:
    code = made(api, scope)
    with httpx.Client(base_url=api.base, **PLAIN) as browser:
        signed_in = browser.post("/api/v1/session", json={"code": code})
        assert signed_in.status_code == 201 and "HttpOnly" in signed_in.headers["set-cookie"]
        word = {"X-CSRF-Token": signed_in.json()["csrf_token"]}
        assert browser.get("/api/v1/session", headers=word).json()["scope"] == scope
    again = httpx.post(f"{api.base}/api/v1/session", json={"code": code}, **PLAIN)
    assert again.status_code == 401 and "was used before" in again.json()["detail"]


def test_a_session_does_not_prolong_itself(api: Served) -> None:
    with httpx.Client(base_url=api.base, **PLAIN) as browser:
        signed_in = browser.post("/api/v1/session", json={"code": made(api, Scope.VIEWER)}).json()
        csrf = {"X-CSRF-Token": signed_in["csrf_token"]}
        refused = browser.post("/api/v1/session/codes", headers=csrf)
    assert refused.status_code == 403 and "use the token" in refused.json()["detail"]


def test_codes_and_their_use_are_audited(api: Served, admin: httpx.Client) -> None:
    token = admin.post("/api/v1/tokens", json={"name": "with a code"}).json()
    bearer = {"Authorization": f"Bearer {token['token']}"}
    code = httpx.post(f"{api.base}/api/v1/session/codes", headers=bearer, **PLAIN).json()["code"]
    httpx.post(f"{api.base}/api/v1/session", json={"code": code}, **PLAIN).raise_for_status()
    httpx.post(f"{api.base}/api/v1/session", json={"token": token["token"]}, **PLAIN).raise_for_status()
    with api.sessions() as session:
        entries = session.scalars(
            select(AuditEntry).where(AuditEntry.token_id == token["id"]).order_by(AuditEntry.id)
        ).all()
    assert [(each.action, each.detail.get("with")) for each in entries] == [
        ("session.code", None),
        ("session.open", "code"),
        ("session.open", "token"),
    ]


def test_a_code_of_a_revoked_token_opens_nothing(api: Served, admin: httpx.Client) -> None:
    token = admin.post("/api/v1/tokens", json={"name": "gone soon"}).json()
    bearer = {"Authorization": f"Bearer {token['token']}"}
    code = httpx.post(f"{api.base}/api/v1/session/codes", headers=bearer, **PLAIN).json()["code"]
    assert admin.delete(f"/api/v1/tokens/{token['id']}").status_code == 204
    assert httpx.post(f"{api.base}/api/v1/session", json={"code": code}, **PLAIN).status_code == 401


def test_neither_a_page_of_another_site_nor_a_caller_without_a_token_gets_anywhere(api: Served) -> None:
    body, foreign = {"code": made(api, Scope.VIEWER)}, {"Origin": "http://evil.example"}
    assert httpx.post(f"{api.base}/api/v1/session", json=body, headers=foreign, **PLAIN).status_code == 403
    assert httpx.post(f"{api.base}/api/v1/session/codes", **PLAIN).status_code == 401
    assert httpx.post(f"{api.base}/api/v1/session", json=body, **PLAIN).status_code == 201, (
        "the refusal did not use it up"
    )


@pytest.mark.parametrize("body", [{}, {"token": "lanista_x", "code": "x"}])
def test_it_is_a_token_or_a_code(api: Served, body: dict[str, str]) -> None:
    answer = httpx.post(f"{api.base}/api/v1/session", json=body, **PLAIN)
    assert answer.status_code == 422 and "a token or a code" in answer.text


def test_no_code_is_kept_in_the_database(api: Served) -> None:
    code = made(api, Scope.VIEWER)
    assert httpx.post(f"{api.base}/api/v1/session", json={"code": code}, **PLAIN).status_code == 201
    with api.sessions() as session:
        kept = session.execute(text("SELECT row_to_json(k)::text FROM idempotency_keys k")).scalars().all()
    assert kept and not any(code in row for row in kept)


def test_codes_are_read_by_their_maker_alone_whole_and_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    signer, token = SessionSigner("s" * 40, 60), new_id()
    code = issue_code(signer, token)
    read = read_code(signer, code)
    assert read is not None and read.token_id == token
    assert read_code(SessionSigner("t" * 40, 60), code) is None
    for damaged in ("", ".", code[:-1], code[1:], code.replace(".", ""), f"{code}x", "é.é"):
        assert read_code(signer, damaged) is None
    assert len({issue_code(signer, token) for _ in range(50)}) == 50
    later = time.time() + sign_in_codes.SECONDS + 1
    monkeypatch.setattr(sign_in_codes.time, "time", lambda: later)
    assert read_code(signer, code) is None
