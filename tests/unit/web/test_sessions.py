"""Session cookies and CSRF tokens: signed for one purpose, by one secret, for a time."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time

import pytest

from api.store.core.ids import new_id
from api.web.auth.sessions import SessionSigner

SECRET = "s" * 40


def hmac_sha256(text: str) -> str:
    """A signature as the standard library makes it."""
    digest = hmac.new(SECRET.encode(), text.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def test_a_cookie_names_its_session_until_it_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    signer, token = SessionSigner(SECRET, 60), new_id()
    cookie = signer.issue(token)
    assert signer.session_id(cookie) == token
    later = time.time() + 61
    monkeypatch.setattr(time, "time", lambda: later)
    assert signer.session_id(cookie) is None


def test_a_cookie_is_read_with_its_secret_alone_and_whole() -> None:
    signer, token = SessionSigner(SECRET, 60), new_id()
    cookie = signer.issue(token)
    content, _, signature = cookie.rpartition(".")
    later = f"{token}.{int(time.time()) + 10_000}"
    wrong = ("", ".", "..", cookie[1:], cookie[:-1], f"{cookie}x", content, f"{later}.{signature}", "é.é", "\ud800.x")
    assert [signer.session_id(each) for each in wrong] == [None] * len(wrong)
    assert SessionSigner("t" * 40, 60).session_id(cookie) is None
    assert SessionSigner(None, 60).session_id(cookie) is None


def test_a_signature_is_valid_for_its_purpose_alone() -> None:
    signer = SessionSigner(SECRET, 60)
    cookie = signer.issue(new_id())
    assert signer.is_csrf_token(cookie, signer.csrf_token(cookie))
    assert not signer.is_csrf_token(cookie, cookie.rpartition(".")[2])
    assert not signer.is_csrf_token(cookie, "") and not signer.is_csrf_token(cookie, "é")
    assert not signer.is_csrf_token(signer.issue(new_id()), signer.csrf_token(cookie))
    assert signer.unsign("code", signer.sign("session", "x.1")) is None


def test_a_signature_is_an_hmac_of_purpose_and_content() -> None:
    signer, session = SessionSigner(SECRET, 60), new_id()
    content = f"{session}.{int(time.time()) + 60}"
    cookie = f"{content}.{hmac_sha256(f'session:{content}')}"
    assert signer.session_id(cookie) == session
    assert signer.is_csrf_token(cookie, hmac_sha256(f"csrf:{cookie}"))


def test_a_secret_is_changed_without_signing_anybody_out() -> None:
    before, after = "o" * 40, "n" * 40
    old, rolling, new = (SessionSigner(secret, 60) for secret in (before, f"{after},{before}", after))
    session = new_id()
    cookie = old.issue(session)
    csrf = old.csrf_token(cookie)
    assert rolling.session_id(cookie) == session and rolling.is_csrf_token(cookie, csrf)
    assert new.session_id(rolling.issue(session)) == session, "the first one signs"
    assert new.session_id(cookie) is None, "a secret that is gone opens nothing"


def test_a_secret_with_a_comma_of_an_earlier_release_stays_one_secret() -> None:
    session, secret = new_id(), "with,comma" * 4
    assert SessionSigner(secret, 60).session_id(SessionSigner(secret, 60).issue(session)) == session
    assert SessionSigner("with", 60).session_id(SessionSigner(secret, 60).issue(session)) is None
