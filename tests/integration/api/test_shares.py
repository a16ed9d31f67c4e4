"""Shared links show one report and open nothing else; the report of a league is one file that escapes every name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select, text, update

from api.alerts.redaction import HIDDEN
from api.schemas.enums import Scope
from api.schemas.events import TrialStatusChanged
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.tables import Player, ShareLink, Tournament, Trial
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.server import Served, running_api
from tests.integration.api.test_access import CALLS, send

SHARES = "/api/v1/shares"
EVIL = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def league(api: Served) -> ReadableLeague:
    return readable_league(api.sessions)


@pytest.fixture
def stranger(api: Served) -> Iterator[httpx.Client]:
    with api.client(None) as client:
        yield client


def make(client: httpx.Client, **what: Any) -> dict[str, Any]:
    answer = client.post(SHARES, json=what)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


class Tags(HTMLParser):
    """Every tag of a document with its attributes."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def assert_alone(document: str) -> None:
    """The document loads nothing, runs nothing and leads nowhere."""
    for tag, attributes in Tags(document).found:
        assert tag not in {"script", "iframe", "object", "embed", "link", "img", "a", "form", "base", "use", "image"}
        loads = {"href", "src", "srcset", "xlink:href", "action", "formaction", "data", "background", "ping"}
        assert not loads & set(attributes) and not [name for name in attributes if name.startswith("on")]
    assert "url(" not in document and "@import" not in document


def test_a_link_shows_its_trial_to_somebody_without_a_token(
    api: Served, operator: httpx.Client, stranger: httpx.Client, league: ReadableLeague
) -> None:
    other = readable_league(api.sessions)
    other_name = operator.get(f"/api/v1/trials/{other.trial_id}").json()["name"]
    made = make(operator, trial_id=league.trial_id, note="the reading group")
    shown = stranger.get(made["path"])
    assert shown.status_code == 200 and shown.headers["content-type"].startswith("text/html")
    assert made["name"] in shown.text and "Rating over steps" in shown.text and "<svg" in shown.text
    assert_alone(shown.text)
    policy = shown.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "sandbox" in policy and "script" not in policy
    assert shown.headers["cache-control"] == "no-store" and shown.headers["referrer-policy"] == "no-referrer"
    assert other_name not in shown.text and other.trial_id not in shown.text
    listed = operator.get(SHARES, params={"trial_id": league.trial_id}).json()["items"][0]
    assert (listed["note"], listed["opened"], "path" in listed) == ("the reading group", 1, False)


def test_a_link_to_a_tournament_shows_it(
    api: Served, operator: httpx.Client, stranger: httpx.Client, league: ReadableLeague
) -> None:
    with api.sessions() as session:
        held = session.scalars(select(Tournament).where(Tournament.trial_id == league.trial_id).limit(1)).one()
    shown = stranger.get(make(operator, tournament_id=held.id)["path"])
    assert shown.status_code == 200 and held.name in shown.text
    assert_alone(shown.text)


def test_a_link_opens_no_call_of_the_api(
    operator: httpx.Client, stranger: httpx.Client, league: ReadableLeague
) -> None:
    secret = make(operator, trial_id=league.trial_id)["path"].partition("link=")[2]
    refused = [call for call in CALLS if "/api/" in call[1] and call != ("POST", "/api/v1/session")]
    assert len(refused) > 80
    for call in refused:
        for headers in ({"Authorization": f"Bearer {secret}"}, {"Cookie": f"lanista_session={secret}"}):
            assert send(stranger, call, **headers).status_code == 401, call
    assert stranger.post("/api/v1/session", json={"token": secret}).status_code == 401
    own = f"/api/v1/trials/{league.trial_id}"
    for path in (own, f"{own}/report", f"{own}/players", f"{own}/events"):
        answer = stranger.get(path, params={"link": secret})
        assert answer.status_code in (401, 403, 404, 422), path
        assert league.league.trial_id not in answer.text or "Sign in" in answer.text


def test_links_that_ended_look_the_same_as_unknown_ones(
    api: Served, operator: httpx.Client, stranger: httpx.Client, league: ReadableLeague
) -> None:
    revoked, expired = (make(operator, trial_id=league.trial_id) for _ in range(2))
    assert stranger.get(revoked["path"]).status_code == stranger.get(expired["path"]).status_code == 200
    assert operator.delete(f"{SHARES}/{revoked['id']}").status_code == 204
    with api.sessions.begin() as session:
        past = text("created_at + interval '1 microsecond'")
        session.execute(update(ShareLink).where(ShareLink.id == expired["id"]).values(expires_at=past))
    unknown = "/shared?link=lanista_share_" + "x" * 43
    answers = [stranger.get(path) for path in (revoked["path"], expired["path"], unknown, "/shared")]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1 and "shows nothing" in answers[0].text


def test_the_secret_is_shown_once_and_stored_as_a_hash(
    api: Served, admin: httpx.Client, league: ReadableLeague
) -> None:
    key = {"Idempotency-Key": new_id()}
    body = {"trial_id": league.trial_id}
    made = admin.post(SHARES, json=body, headers=key).json()
    secret = made["path"].partition("link=")[2]
    assert admin.post(SHARES, json=body, headers=key).json()["path"] is None
    assert secret not in admin.get(SHARES).text and secret not in admin.get("/api/v1/audit").text
    with api.sessions() as session:
        row = session.get_one(ShareLink, made["id"])
        assert re.fullmatch("[0-9a-f]{64}", row.token_sha256) and row.created_by == "a admin"
    newest = admin.get("/api/v1/audit").json()["items"][0]
    assert (newest["action"], newest["target"]) == ("share.create", f"share/{made['id']}")


@pytest.mark.parametrize(
    "body", [{}, {"trial_id": new_id(), "tournament_id": new_id()}, {"trial_id": new_id(), "expires_in_days": 0}]
)
def test_wrong_links_are_refused(operator: httpx.Client, body: dict[str, Any]) -> None:
    assert operator.post(SHARES, json=body).status_code == 422


def test_what_is_not_there_cannot_be_shared(
    operator: httpx.Client, viewer: httpx.Client, league: ReadableLeague
) -> None:
    assert operator.post(SHARES, json={"trial_id": new_id()}).status_code == 404
    assert operator.post(SHARES, json={"tournament_id": new_id()}).status_code == 404
    assert viewer.post(SHARES, json={"trial_id": league.trial_id}).status_code == 403


def test_the_report_escapes_names_and_says_what_is_known(api: Served, viewer: httpx.Client) -> None:
    league = readable_league(api.sessions)
    with api.sessions.begin() as session:
        session.execute(
            update(Player).where(Player.trial_id == league.trial_id, Player.name == "main").values(name=EVIL)
        )
    answer = viewer.get(f"/api/v1/trials/{league.trial_id}/report")
    assert answer.status_code == 200 and "attachment" not in answer.headers["content-disposition"]
    assert EVIL not in answer.text and "&lt;script&gt;" in answer.text
    assert_alone(answer.text)
    for heading in ("The league", "Rating over steps", "Players", "Payoff", "What happened", "Trial file"):
        assert f">{heading}</h2>" in answer.text
    assert viewer.get(f"/api/v1/trials/{new_id()}/report").status_code == 404


def test_a_link_hides_what_looks_like_a_secret(api: Served, operator: httpx.Client, stranger: httpx.Client) -> None:
    league, secret = readable_league(api.sessions), f"lanista_{new_id()}"
    reason = f"no access with {secret}\nTraceback: hunter22"
    with api.sessions.begin() as session:
        session.execute(update(Trial).where(Trial.id == league.trial_id).values(status_reason=reason))
        failed = TrialStatusChanged(from_="running", to="failed", reason=reason)
        append_events(session, [NewEvent(trial_id=league.trial_id, payload=failed)])
        held = update(Tournament).where(Tournament.trial_id == league.trial_id).values(status_reason=reason)
        held_id = session.scalars(held.returning(Tournament.id)).first()
    links = [make(operator, trial_id=league.trial_id), make(operator, tournament_id=held_id)]
    shown = [stranger.get(link["path"]).text for link in links]
    assert [text_.count(f"no access with {HIDDEN}") for text_ in shown] == [3, 1], "status, events, problems; status"
    assert not [word for word in (secret, "hunter22") for text_ in shown if word in text_]


def test_links_begin_with_the_public_address(
    api_database: str, temporal_address: str, artifacts: Path, league: ReadableLeague
) -> None:
    with (
        running_api(api_database, temporal_address, artifacts, public_url="https://lanista.example/") as served,
        served.client(Scope.OPERATOR) as client,
    ):
        made = make(client, trial_id=league.trial_id)
    assert made["url"] == f"https://lanista.example{made['path']}"
