"""TensorBoard behind the API: by a ticket in the address, which ends with its session or token."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer

import httpx
import pytest

from api.schemas.enums import Scope
from tests.integration.api.server import PLAIN, Served, running_api
from tests.integration.api.test_access import Browser

SEEN: list[dict[str, str]] = []


class StandIn(BaseHTTPRequestHandler):
    """Answers like TensorBoard, and keeps the headers that reach it."""

    def address_string(self) -> str:
        return "a socket"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        SEEN.append({name.lower(): value for name, value in self.headers.items()})
        page = b"<html><style>a{src:url(/font)}</style>charts" if self.path == "/" else f"at {self.path}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if self.path == "/" else "text/plain")
        self.send_header("Content-Length", str(len(page)))
        self.send_header("Set-Cookie", "lanista_session=forged")
        self.end_headers()
        self.wfile.write(page)


@pytest.fixture(scope="module")
def charts(
    api_database: str, temporal_address: str, tmp_path_factory: pytest.TempPathFactory, artifacts: Path
) -> Iterator[Served]:
    socket = tmp_path_factory.mktemp("tb") / "s"
    server = ThreadingUnixStreamServer(str(socket), StandIn)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with running_api(api_database, temporal_address, artifacts, tensorboard_upstream=f"unix:{socket}") as served:
        yield served
    server.shutdown()
    server.server_close()


def link(client: httpx.Client, **headers: str) -> str:
    return str(client.get("/api/v1/system", headers=headers).json()["links"]["tensorboard"])


def test_the_link_of_a_caller_shows_tensorboard_in_a_sandbox(charts: Served) -> None:
    with charts.client(Scope.VIEWER) as client:
        address = link(client)
        assert address == link(client), "the link on the page stays the same"
    assert charts.tokens[Scope.VIEWER] not in address
    answer = httpx.get(address, headers={"Cookie": "a=b", "Authorization": "Bearer x"}, **PLAIN)
    assert answer.status_code == 200 and "charts" in answer.text and "url(font)" in answer.text
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts ") and "allow-same-origin" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff" and "set-cookie" not in answer.headers
    assert not {"cookie", "authorization"} & set(SEEN[-1]), "credentials go no further than the API"
    assert httpx.get(f"{address}data/x?run=a%20b", **PLAIN).text == "at /data/x?run=a%20b"
    assert httpx.get(f"{address}/evil.example/", **PLAIN).text == "at /evil.example/", "TensorBoard and nowhere else"
    assert httpx.get(f"{address}a%00b", **PLAIN).status_code in (200, 404)


def test_without_a_valid_ticket_nothing_is_passed_on(charts: Served) -> None:
    with charts.client(Scope.VIEWER) as client:
        address = link(client)
    ticket = address.rstrip("/").rpartition("/")[2]
    before = len(SEEN)
    for wrong in (
        "x",
        ticket[:-1],
        f"{ticket}x",
        ticket.replace("t.", "s.", 1),
        f"t.{'0' * 36}.99999999999.{'x' * 43}",
    ):
        answer = httpx.get(f"{charts.base}/tensorboard/{wrong}/data/runs", **PLAIN)
        assert answer.status_code == 401, wrong
    assert len(SEEN) == before
    assert httpx.get(f"{charts.base}/tensorboard", **PLAIN).text.count("app.js") == 1, "the page, which asks to sign in"


def test_a_ticket_ends_with_its_session_or_token(charts: Served) -> None:
    browser = Browser(charts, Scope.VIEWER)
    address = link(browser.client, **browser.word)
    assert httpx.get(address, **PLAIN).status_code == 200
    assert browser.client.delete("/api/v1/session", headers=browser.word).status_code == 204
    assert httpx.get(address, **PLAIN).status_code == 401
    browser.client.close()
    with charts.client(Scope.ADMIN) as admin:
        token = admin.post("/api/v1/tokens", json={"name": "charts"}).json()
        with httpx.Client(base_url=charts.base, **PLAIN) as client:
            address = link(client, Authorization=f"Bearer {token['token']}")
        assert httpx.get(address, **PLAIN).status_code == 200
        assert admin.delete(f"/api/v1/tokens/{token['id']}").status_code == 204
    assert httpx.get(address, **PLAIN).status_code == 401


def test_an_api_without_tensorboard_has_no_link(api: Served, viewer: httpx.Client) -> None:
    assert "tensorboard" not in viewer.get("/api/v1/system").json()["links"]
    assert httpx.get(f"{api.base}/tensorboard/x/", **PLAIN).status_code == 404
