"""Whose address counts: forged headers of strangers, and wrong tokens beside right ones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.addresses import limit_key, read_address, read_networks
from api.schemas.enums import Scope
from api.settings import ApiSettings
from api.web.middleware.caller_address import CallerAddress
from lanista.stack.ports import unused_port
from orchestrator.settings import SettingsError
from tests.integration.api.server import PLAIN, Served, running_api

FAILURES = 5


@pytest.fixture(scope="module")
def guarded(postgres_server: Any, postgres_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An API that limits failed sign-ins and trusts a proxy elsewhere. These tests need no Temporal."""
    folder: Path = tmp_path_factory.mktemp("artifacts")
    limits = {"failed_sign_ins": float(FAILURES), "trusted_proxies": "192.0.2.0/24", "streams_per_token": 2}
    with (
        postgres_server.database(postgres_template) as url,
        running_api(url, f"127.0.0.1:{unused_port()}", folder, **limits) as served,
    ):
        yield served


def test_wrong_tokens_lock_out_no_right_one(guarded: Served) -> None:
    wrong = {"Authorization": "Bearer lanista_guessed"}
    with guarded.client(None) as stranger, guarded.client(Scope.ADMIN) as admin:
        statuses = [stranger.get("/api/v1/trials", headers=wrong).status_code for _ in range(3 * FAILURES)]
        assert statuses[:FAILURES] == [401] * FAILURES and statuses[-1] == 429
        forged = [
            stranger.get("/api/v1/trials", headers=wrong | {"X-Forwarded-For": f"198.51.100.{number}"}).status_code
            for number in range(FAILURES)
        ]
        assert set(forged) == {429}, "a forged address is no new one"
        assert {admin.get("/api/v1/session").status_code for _ in range(40)} == {200}
        signed_in = admin.post("/api/v1/session", json={"token": guarded.tokens[Scope.VIEWER]})
        assert signed_in.status_code == 201
        refused = stranger.post("/api/v1/session", json={"token": "guessed"})
        assert refused.status_code == 429 and int(refused.headers["retry-after"]) >= 1


def test_the_audit_log_holds_the_peers_address_whatever_a_caller_writes(guarded: Served) -> None:
    forged = {"X-Forwarded-For": "203.0.113.9, <script>", "X-Real-IP": "203.0.113.9", "Forwarded": "for=203.0.113.9"}
    with guarded.client(Scope.ADMIN) as admin:
        assert admin.post("/api/v1/session/codes", headers=forged).status_code == 201
        newest = admin.get("/api/v1/audit").json()["items"][0]
    assert (newest["action"], newest["remote_address"]) == ("session.code", "127.0.0.1")


def test_a_token_has_so_many_streams_and_no_more(guarded: Served) -> None:
    with guarded.client(Scope.VIEWER, timeout=20) as one, guarded.client(Scope.ADMIN) as other:
        with one.stream("GET", "/api/v1/events") as first, one.stream("GET", "/api/v1/events") as second:
            lines = [stream.iter_lines() for stream in (first, second)]
            assert [next(line) for line in lines] == ["retry: 1000"] * 2
            third = one.get("/api/v1/events")
            assert third.status_code == 429 and "2 event streams" in third.json()["detail"]
            assert int(third.headers["retry-after"]) >= 1
            assert one.get("/api/v1/session").status_code == 200, "other calls go on"
            with other.stream("GET", "/api/v1/events") as theirs:
                assert theirs.status_code == 200
        for _ in range(200):
            with one.stream("GET", "/api/v1/events") as again:
                if again.status_code == 200:
                    break
        assert again.status_code == 200, "a closed stream makes room"


def caller(peer: str, trusted: str, **headers: str) -> tuple[str | None, str]:
    """The address and the scheme that the application sees."""
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope)

    listed = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope: Any = {"type": "http", "client": (peer, 1), "scheme": "http", "headers": listed}
    asyncio.run(CallerAddress(app, read_networks(trusted))(scope, None, None))  # type: ignore[arg-type]
    return (seen[0]["client"] or (None,))[0], seen[0]["scheme"]


@pytest.mark.parametrize(
    ("peer", "trusted", "forwarded", "address"),
    [
        ("198.51.100.1", "", "203.0.113.9", "198.51.100.1"),
        ("127.0.0.1", "", "203.0.113.9", "127.0.0.1"),
        ("10.0.0.1", "10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "10.0.0.0/8", "1.2.3.4, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.1", "10.0.0.0/8", "203.0.113.9:1234", "203.0.113.9"),
        ("10.0.0.1", "10.0.0.0/8", "[2001:db8::1]:80", "2001:db8::1"),
        ("10.0.0.1", "10.0.0.0/8", "<script>", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.0/8", "203.0.113.9, nonsense", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.0/8", "", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.0/8", "203.0.113.9", "203.0.113.9"),
        ("", "10.0.0.0/8", "203.0.113.9", None),
    ],
)
def test_only_a_trusted_proxy_names_another_address(
    peer: str, trusted: str, forwarded: str, address: str | None
) -> None:
    found, scheme = caller(peer, trusted, x_forwarded_for=forwarded, x_forwarded_proto="https")
    believed = bool(trusted) and address is not None
    assert (found, scheme) == (address, "https" if believed else "http")


def test_a_scheme_is_http_or_https() -> None:
    assert caller("10.0.0.1", "10.0.0.1", x_forwarded_proto="javascript")[1] == "http"


def test_limits_count_an_ipv6_network_as_one() -> None:
    assert limit_key("2001:db8::1") == limit_key("2001:db8::ffff:1") == "2001:db8::/64"
    assert limit_key("::ffff:192.0.2.1") == "192.0.2.1"
    assert {limit_key(None), limit_key("testclient"), limit_key("1" * 5_000)} == {"unknown"}
    assert read_address("fe80::1%eth0") == read_address("fe80::1")


@pytest.mark.parametrize("value", ["proxy.example", "10.0.0.1/8", "*", "10.0.0.0/8 ::1"])
def test_a_proxy_that_is_no_address_is_refused_at_the_start(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANISTA_TRUSTED_PROXIES", value)
    with pytest.raises(SettingsError, match=r"LANISTA_TRUSTED_PROXIES=.*neither an address nor a network.*CIDR"):
        ApiSettings.load()


def test_a_stranger_reads_what_is_wrong_with_a_large_header(guarded: Served) -> None:
    answer = httpx.get(f"{guarded.base}/healthz", headers={"X": "a" * 40_000}, **PLAIN)
    assert answer.status_code == 431 and answer.headers["content-type"] == "application/problem+json"
