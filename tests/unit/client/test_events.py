"""Events are read whatever the chunks, and taken up after a lost connection where they were left."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanista.client import server_sent_events
from lanista.client.errors import NotFound, NotSignedIn, UnexpectedAnswer, Unreachable
from tests.unit.client.fake_api import EVENT_STREAM, NO_WAITING, WHEN, Caller, FakeApi, Stream, an_id, problem

GREETING = b"retry: 1000\n\n"
LOST = httpx.ReadError("connection reset")


def frame(number: int, **payload: Any) -> bytes:
    data = {"id": number, "type": "trial.status", "trial_id": an_id(1), "created_at": WHEN, "payload": payload}
    return f"id: {number}\nevent: trial.status\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def progress(**details: Any) -> bytes:
    generation = {"player_id": an_id(2), "player": "main", "generation": 3, "attempt": 1, "progress": details}
    data = {"type": "progress", "trial_id": an_id(1), "generations": [generation]}
    return f"event: progress\ndata: {json.dumps(data)}\n\n".encode()


def stream(*chunks: bytes, error: Exception | None = None) -> httpx.Response:
    return httpx.Response(200, headers=EVENT_STREAM, stream=Stream(GREETING, *chunks, error=error))


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_sent_events, "PAUSE_SECONDS", 0.0)


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(words=st.lists(WORDS, min_size=1, max_size=5), sizes=st.lists(st.integers(1, 50), min_size=1))
def test_events_survive_any_cut_of_their_bytes_and_any_text(words: list[str], sizes: list[int]) -> None:
    """U+2028 and similar characters inside a text do not end a line."""
    data = b"".join(frame(number, word=word) for number, word in enumerate(words)) + b": still here\n\n"
    chunks, start = [], 0
    for turn in range(len(data)):
        size = sizes[turn % len(sizes)]
        chunks.append(data[start : start + size])
        start += size
    found = Caller("blocking").take(FakeApi(stream(*chunks)), lambda client: client.events(), len(words))
    assert [event.payload["word"] for event in found] == words
    assert [event.id for event in found] == list(range(len(words)))


def test_progress_has_no_id_and_moves_no_position(caller: Caller) -> None:
    api = FakeApi(stream(frame(5), progress(steps=50, target=200, steps_per_second=10.0), progress(), error=LOST))
    _, far, begins = caller.take(api, lambda client: client.events(), 3)
    assert (far.id, far.type) == (None, "progress")
    assert (far.generations[0].steps, far.generations[0].target) == (50, 200)
    assert begins.generations[0].steps is None
    caller.take(api := FakeApi(stream(frame(5), progress(), error=LOST), stream(frame(6))), lambda c: c.events(), 3)
    assert api.requests[1].headers["Last-Event-ID"] == "5"


def test_an_address_that_sends_no_events_is_told(caller: Caller) -> None:
    with pytest.raises(UnexpectedAnswer, match="text/event-stream"):
        caller.take(FakeApi(httpx.Response(200, json={})), lambda client: client.events(), 1)


def test_a_lost_stream_goes_on_after_the_last_event_seen(caller: Caller) -> None:
    cut = frame(3)
    api = FakeApi(
        stream(frame(1), frame(2), cut[:30], error=LOST),
        httpx.ConnectError("restarting"),
        problem(503),
        stream(frame(3), frame(4)),
        stream(frame(5)),
    )
    found = caller.take(api, lambda client: client.events(an_id(1)), 5)
    assert [event.id for event in found] == [1, 2, 3, 4, 5]
    positions = [request.headers.get("Last-Event-ID") for request in api.requests]
    assert positions == [None, "2", "2", "2", "4"]
    assert {request.url.path for request in api.requests} == {f"/api/v1/trials/{an_id(1)}/events"}


def test_a_first_connection_may_begin_anywhere(caller: Caller) -> None:
    api = FakeApi(stream(frame(8)))
    assert caller.take(api, lambda client: client.events(after=7), 1)[0].id == 8
    assert api.requests[0].headers["Last-Event-ID"] == "7"
    assert api.requests[0].url.path == "/api/v1/events"


def test_a_first_connection_may_begin_with_the_newest(caller: Caller) -> None:
    api = FakeApi(stream(b"id: 6\n\n", error=LOST), stream(frame(7)))
    assert caller.take(api, lambda client: client.events(newest=3), 1)[0].id == 7
    assert api.requests[0].url.params["newest"] == "3" and "Last-Event-ID" not in api.requests[0].headers
    assert api.requests[1].headers["Last-Event-ID"] == "6", "the line broke before the first event"


def test_a_success_forgives_earlier_failures(caller: Caller) -> None:
    """The attempts are counted anew after each connection, so a long watch survives many restarts."""
    replies: list[httpx.Response | Exception] = []
    for number in range(1, 11):
        replies += [httpx.ConnectError("away")] * (NO_WAITING.attempts - 1) + [stream(frame(number), error=LOST)]
    found = caller.take(FakeApi(*replies), lambda client: client.events(), 10)
    assert [event.id for event in found] == list(range(1, 11))


def test_nobody_answering_any_more_is_told(caller: Caller) -> None:
    api = FakeApi(stream(frame(1), error=LOST), httpx.ConnectError("gone"))
    with pytest.raises(Unreachable, match="gone"):
        caller.take(api, lambda client: client.events(), 2)


@pytest.mark.parametrize(("status", "kind"), [(401, NotSignedIn), (404, NotFound)])
def test_a_refusal_ends_the_stream(caller: Caller, status: int, kind: type[Exception]) -> None:
    api = FakeApi(stream(frame(1)), problem(status, "no"))
    with pytest.raises(kind, match="no"):
        caller.take(api, lambda client: client.events(), 2)


def test_an_event_that_cannot_be_read_is_told(caller: Caller) -> None:
    with pytest.raises(UnexpectedAnswer, match="cannot be read"):
        caller.take(FakeApi(stream(b"data: {nonsense\n\n")), lambda client: client.events(), 1)
