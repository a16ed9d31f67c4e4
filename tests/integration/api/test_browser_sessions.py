"""A browser session: its cookie alone opens nothing, because browsers send it to every port of the host."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import select, text

from api.schemas.enums import Scope
from api.store.access.browser_sessions import delete_expired_sessions
from api.store.tables import BrowserSession
from api.web.auth.sessions import COOKIE
from tests.integration.api.server import PLAIN, Served
from tests.integration.api.test_access import Browser

READS = ("/api/v1/session", "/api/v1/trials", "/api/v1/system", "/api/v1/events", "/api/v1/tokens", "/api/v1/audit")


@pytest.fixture
def browser(api: Served) -> Iterator[Browser]:
    person = Browser(api, Scope.ADMIN)
    yield person
    person.client.close()


def stolen(browser: Browser) -> dict[str, str]:
    """The request headers that a server at another port of this host gets from the browser."""
    return {"Cookie": f"{COOKIE}={browser.client.cookies[COOKIE]}"}


@pytest.mark.parametrize("path", READS)
def test_a_stolen_cookie_reads_nothing(api: Served, browser: Browser, path: str) -> None:
    for word in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "x" * 43}):
        answer = httpx.get(f"{api.base}{path}", headers={**stolen(browser), **word}, **PLAIN)
        assert answer.status_code == 401 and "csrf_token" not in answer.text
    with_word = {**stolen(browser), **browser.word}
    if not path.endswith("/events"):
        assert httpx.get(f"{api.base}{path}", headers=with_word, **PLAIN).status_code == 200


def test_a_cookie_of_another_session_does_not_fit_the_pages_word(api: Served, browser: Browser) -> None:
    """Another port may also overwrite the cookie: the page then is signed out, and not somebody else."""
    other = Browser(api, Scope.VIEWER)
    other.client.close()
    mixed = {**stolen(other), **browser.word}
    assert httpx.get(f"{api.base}/api/v1/session", headers=mixed, **PLAIN).status_code == 401


@pytest.mark.parametrize("site", ["same-site", "cross-site"])
def test_a_page_of_another_port_or_site_reads_nothing_even_with_the_word(browser: Browser, site: str) -> None:
    headers = {**browser.word, "Sec-Fetch-Site": site}
    assert browser.client.get("/api/v1/trials", headers=headers).status_code == 403
    signing_in = browser.client.post("/api/v1/session", json={"token": "lanista_x"}, headers={"Sec-Fetch-Site": site})
    assert signing_in.status_code == 403
    ours = {**browser.word, "Sec-Fetch-Site": "same-origin"}
    assert browser.client.get("/api/v1/trials", headers=ours).status_code == 200


def test_signing_out_ends_the_session_on_the_server(api: Served, browser: Browser) -> None:
    whole = {**stolen(browser), **browser.word}
    second = Browser(api, Scope.ADMIN)
    assert browser.client.delete("/api/v1/session").status_code == 403
    assert httpx.get(f"{api.base}/api/v1/session", headers=whole, **PLAIN).status_code == 200
    left = browser.client.delete("/api/v1/session", headers=browser.word)
    assert left.status_code == 204 and COOKIE not in browser.client.cookies
    again = httpx.get(f"{api.base}/api/v1/session", headers=whole, **PLAIN)
    assert again.status_code == 401 and "is over" in again.json()["detail"]
    assert httpx.delete(f"{api.base}/api/v1/session", headers=whole, **PLAIN).status_code == 401
    assert second.client.get("/api/v1/session", headers=second.word).status_code == 200, "other sessions go on"
    second.client.close()


def test_signing_out_with_a_bearer_token_ends_no_session(api: Served, admin: httpx.Client, browser: Browser) -> None:
    assert admin.delete("/api/v1/session").status_code == 204
    assert browser.client.get("/api/v1/session", headers=browser.word).status_code == 200


def test_expired_sessions_are_deleted(api: Served, browser: Browser) -> None:
    with api.sessions.begin() as session:
        session.execute(
            text("UPDATE browser_sessions SET created_at = now() - interval '3 h', expires_at = now() - interval '2 h'")
        )
    with api.sessions.begin() as session:
        delete_expired_sessions(session)
        assert session.scalars(select(BrowserSession)).all() == []
    second = Browser(api, Scope.VIEWER)
    assert second.client.get("/api/v1/session", headers=second.word).status_code == 200
    second.client.close()
