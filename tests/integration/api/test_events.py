"""Server-Sent Events: in order, resumable without gap or double, and no burden to those who write."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import insert
from sqlalchemy.orm import Session, sessionmaker

from api.schemas.enums import Scope
from api.store.tables import ApiToken, Event
from api.web.live import feed as feed_module
from api.web.routes import events as events_module
from tests.integration.api.server import PLAIN, Served
from tests.integration.store.league import League


@contextmanager
def following(api: Served, path: str = "/api/v1/events", **options: Any) -> Iterator[Iterator[dict[str, Any]]]:
    with api.client(Scope.VIEWER) as client, client.stream("GET", path, **options) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.iter_lines()
        assert next(lines) == "retry: 1000", "connected"
        yield _events(lines)


def _events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    event: dict[str, Any] = {}
    for line in lines:
        if not line and event:
            yield event
            event = {}
        elif line.startswith("data: "):
            event["data"] = json.loads(line[6:])
        elif line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            event[name] = value


def take(events: Iterator[dict[str, Any]], count: int, kind: str) -> list[dict[str, Any]]:
    taken = []
    for event in events:
        if event.get("event") == kind:
            taken.append(event)
            if len(taken) == count:
                return taken
    raise AssertionError(f"the stream ended after {len(taken)} of {count}")


def tell(sessions: sessionmaker[Session], kind: str, number: int, trial_id: str | None = None) -> None:
    with sessions.begin() as session:
        session.execute(insert(Event).values(type=kind, trial_id=trial_id, payload={"number": number}))


@contextmanager
def keep_telling(api: Served, kind: str) -> Iterator[None]:
    """Events of this kind, one after the other, until the block is left."""
    over = threading.Event()

    def go_on() -> None:
        for number in itertools.count():
            tell(api.sessions, kind, number)
            if over.wait(0.05):
                return

    with ThreadPoolExecutor(1) as pool:
        teller = pool.submit(go_on)
        try:
            yield
        finally:
            over.set()
            teller.result()


def numbers(events: list[dict[str, Any]]) -> list[int]:
    return [event["data"]["payload"]["number"] for event in events]


def test_events_come_as_they_are_committed(api: Served) -> None:
    with following(api) as events:
        for number in range(3):
            tell(api.sessions, "test.live", number)
        seen = take(events, 3, "test.live")
    assert numbers(seen) == [0, 1, 2]
    assert [int(event["id"]) for event in seen] == [event["data"]["id"] for event in seen]
    assert seen[0]["data"]["created_at"].endswith("Z")


def test_a_reader_that_comes_back_misses_nothing_and_sees_nothing_twice(api: Served) -> None:
    with following(api) as events:
        for number in range(10):
            tell(api.sessions, "test.resume", number)
        first = take(events, 4, "test.resume")
    with following(api, headers={"Last-Event-ID": first[-1]["id"]}) as events:
        rest = take(events, 6, "test.resume")
    assert numbers(first + rest) == list(range(10))


def test_the_past_is_read_from_the_table(api: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "PAGE", 7)
    for number in range(30):
        tell(api.sessions, "test.past", number)
    with following(api, params={"after": "0"}) as events:
        assert numbers(take(events, 30, "test.past")) == list(range(30))


def test_many_writers_at_once_are_seen_in_order_by_all(api: Served) -> None:
    ready, seen = threading.Barrier(6), []

    def read() -> list[dict[str, Any]]:
        with following(api) as events:
            ready.wait()
            return take(events, 80, "test.crowd")

    with ThreadPoolExecutor(13) as pool:
        readers = [pool.submit(read) for _ in range(5)]
        ready.wait()
        list(pool.map(lambda number: tell(api.sessions, "test.crowd", number), range(80)))
        seen = [reader.result() for reader in readers]
    ids = [[int(event["id"]) for event in events] for events in seen]
    assert ids[0] == sorted(ids[0]) and len(set(ids[0])) == 80
    assert all(other == ids[0] for other in ids)
    assert sorted(numbers(seen[0])) == list(range(80))


def test_a_trials_stream_holds_that_trial_alone(api: Served) -> None:
    ours, other = League.found(api.sessions), League.found(api.sessions)
    with following(api, f"/api/v1/trials/{ours.trial_id}/events") as events:
        for number in range(4):
            tell(api.sessions, "test.trial", number, (ours if number % 2 else other).trial_id)
        assert numbers(take(events, 2, "test.trial")) == [1, 3]


def test_a_reader_that_never_reads_holds_nobody_up(api: Served) -> None:
    with api.client(Scope.VIEWER) as client, client.stream("GET", "/api/v1/events"):
        large = {"text": "x" * 20_000}
        with following(api) as events:
            for number in range(100):
                with api.sessions.begin() as session:
                    session.execute(insert(Event).values(type="test.slow", payload={"number": number, **large}))
            assert numbers(take(events, 100, "test.slow")) == list(range(100))


def test_the_newest_events_come_first_and_then_what_follows(api: Served) -> None:
    for number in range(5):
        tell(api.sessions, "test.newest", number)
    with following(api, params={"newest": 3}) as events:
        tell(api.sessions, "test.newest", 5)
        assert numbers(take(events, 4, "test.newest")) == [2, 3, 4, 5]
    with following(api, params={"newest": 0}) as events:
        tell(api.sessions, "test.newest", 6)
        assert numbers(take(events, 1, "test.newest")) == [6]


def test_the_newest_of_a_trial_are_its_own(api: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "PAGE", 2)
    monkeypatch.setattr(feed_module, "RING", 3)
    ours, other = League.found(api.sessions), League.found(api.sessions)
    for number in range(12):
        tell(api.sessions, "test.own", number, (other if number % 3 else ours).trial_id)
    path = f"/api/v1/trials/{ours.trial_id}/events"
    with following(api, path, params={"newest": 3}) as events:
        for number in range(12, 16):
            tell(api.sessions, "test.own", number, (other if number % 3 else ours).trial_id)
        assert numbers(take(events, 5, "test.own")) == [3, 6, 9, 12, 15]
    with following(api, path, params={"newest": 1_000}) as events:
        assert numbers(take(events, 6, "test.own")) == [0, 3, 6, 9, 12, 15]


def test_a_reader_that_has_seen_nothing_yet_knows_where_it_was(api: Served) -> None:
    """A line that breaks before the first event must not lose what happens until the next one stands."""
    with following(api) as events:
        (position,) = itertools.islice(events, 1)
        assert set(position) == {"id"}, "a bare id: no event for a browser, and a position for it"
    tell(api.sessions, "test.between", 7)
    address = {"params": {"newest": "0"}, "headers": {"Last-Event-ID": position["id"]}}
    with following(api, **address) as events:  # a browser repeats its first address; the header counts
        assert numbers(take(events, 1, "test.between")) == [7]


def test_frames_without_names_reach_listeners_of_every_kind(api: Served) -> None:
    with following(api, params={"named": "false"}) as events:
        tell(api.sessions, "test.unnamed", 3)
        event = next(event for event in events if "data" in event)
    assert set(event) == {"id", "data"}, "no event line"
    assert event["data"]["type"] == "test.unnamed"
    assert event["data"]["text"] == "Test unnamed"


def test_an_event_comes_with_its_sentence(api: Served) -> None:
    payload = {"player_id": "an id", "verdict": "avoided", "reason": "version 3 of main is damaged"}
    with following(api) as events:
        with api.sessions.begin() as session:
            session.execute(insert(Event).values(type="checkpoint.damaged", payload=payload))
        (event,) = take(events, 1, "checkpoint.damaged")
    assert event["data"]["text"] == "Damaged checkpoint: version 3 of main is damaged"
    assert (event["data"]["level"], event["data"]["transient"]) == ("bad", False)
    assert event["data"]["payload"] == payload


def test_a_position_that_is_none_is_refused(viewer: httpx.Client) -> None:
    assert viewer.get("/api/v1/events", params={"newest": "1001"}).status_code == 422
    both = viewer.get("/api/v1/events", params={"newest": "3", "after": "3"})
    assert both.status_code == 422 and "not both" in both.json()["detail"]
    assert viewer.get("/api/v1/events", headers={"Last-Event-ID": "yesterday"}).status_code == 422
    assert viewer.get("/api/v1/events", params={"after": "-1"}).status_code == 422


@pytest.mark.parametrize("end", ["revoked", "expired"])
def test_a_token_that_ends_takes_its_stream_with_it_however_busy(
    api: Served, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(events_module, "TRUSTED_SECONDS", 0.3)
    made = admin.post("/api/v1/tokens", json={"name": "follower", "expires_in_days": 1}).json()
    address = {"url": f"{api.base}/api/v1/events", "headers": {"Authorization": f"Bearer {made['token']}"}}
    with keep_telling(api, "test.busy"), httpx.stream("GET", **address, **PLAIN) as response:
        lines, deadline = response.iter_lines(), time.monotonic() + 60
        take(_events(lines), 3, "test.busy")
        _end_token(api, admin, made["id"], end)
        for _ in lines:
            assert time.monotonic() < deadline, "the stream goes on"


def _end_token(api: Served, admin: httpx.Client, token_id: str, end: str) -> None:
    if end == "revoked":
        assert admin.delete(f"/api/v1/tokens/{token_id}").status_code == 204
        return
    yesterday = datetime.now(UTC) - timedelta(days=1)
    with api.sessions.begin() as session:
        row = session.get_one(ApiToken, token_id)
        row.created_at, row.expires_at = yesterday, yesterday + timedelta(hours=1)


def test_a_quiet_stream_shows_that_it_lives_while_others_are_busy(api: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_module, "IDLE_SECONDS", 0.5)
    path = f"/api/v1/trials/{League.found(api.sessions).trial_id}/events"
    with (
        keep_telling(api, "test.elsewhere"),
        api.client(Scope.VIEWER) as client,
        client.stream("GET", path) as response,
    ):
        assert ": still here" in response.iter_lines()
