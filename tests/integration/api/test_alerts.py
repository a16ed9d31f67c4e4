"""Alerts over HTTP, to a real receiver: nothing is lost or doubled, whoever dies; secrets stay hidden."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select, text, update

from api.alerts import delivery as delivery_module
from api.alerts.delivery import AlertDelivery
from api.schemas.enums import Scope
from api.schemas.events import GenerationRetried, TrialStatusChanged
from api.store.alerts.deliveries import note_stalled_trials, prune_deliveries
from api.store.core.clock import now
from api.store.core.events import NewEvent, append_events
from api.store.core.ids import new_id
from api.store.tables import AlertChannel, Event, Schedule, Tournament, Trial
from api.store.tables import AlertDelivery as Outbox
from tests.integration.api.league import ReadableLeague, readable_league
from tests.integration.api.receiver import Receiver
from tests.integration.api.server import PATIENCE, Served, running_api
from tests.integration.api.test_trials import until

ALERTS = "/api/v1/alerts"
KEY = "a-key-for-tests-that-is-long-enough-000"
LOCAL = {"temporal_key": KEY, "alert_networks": "127.0.0.0/8", "public_url": "https://lanista.example"}


@pytest.fixture(scope="module")
def served(api_database: str, temporal_address: str, artifacts: Path) -> Iterator[Served]:
    """An API that has a key for secrets and may call this machine."""
    with running_api(api_database, temporal_address, artifacts, **LOCAL) as found:
        yield found


@pytest.fixture(scope="module")
def league(served: Served) -> ReadableLeague:
    return readable_league(served.sessions)


@pytest.fixture
def admin(served: Served) -> Iterator[httpx.Client]:
    with served.client(Scope.ADMIN) as client:
        yield client


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    made.start()
    yield made
    made.stop()


@pytest.fixture
def delivery(served: Served) -> Iterator[AlertDelivery]:
    made = AlertDelivery(served.sessions, served.settings)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _no_channels_left(served: Served) -> Iterator[None]:
    yield
    with served.sessions.begin() as session:
        session.execute(text("DELETE FROM alert_channels"))


def make_channel(client: httpx.Client, **changes: Any) -> dict[str, Any]:
    body = {"name": f"c-{new_id()[-12:]}", "kind": "webhook"} | changes
    answer = client.post(f"{ALERTS}/channels", json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def make_rule(client: httpx.Client, channel: dict[str, Any], *kinds: str, **of: Any) -> dict[str, Any]:
    answer = client.post(f"{ALERTS}/rules", json={"channel_id": channel["id"], "kinds": kinds, **of})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def project_of(client: httpx.Client, league: ReadableLeague) -> str:
    return str(client.get(f"/api/v1/trials/{league.trial_id}").json()["project"])


def retried(served: Served, trial_id: str, count: int, problem: str = "the worker sent no heartbeat") -> None:
    for number in range(count):
        payload = GenerationRetried(
            player_id=new_id(), player="main", generation=number, tries=1, problem=problem, failure="worker_lost"
        )
        with served.sessions.begin() as session:
            append_events(session, [NewEvent(trial_id=trial_id, payload=payload)])


def deliveries(client: httpx.Client, **of: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"{ALERTS}/deliveries", params={"limit": "500", **of}).json()["items"]
    return found


def work(served: Served, delivery: AlertDelivery, done: Callable[[], bool]) -> None:
    """Run the loop of the store worker until something is so; waits after failures are skipped."""
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        with served.sessions.begin() as session:
            session.execute(update(AlertChannel).values(blocked_until=None))
            failed = Outbox.last_error.is_not(None), Outbox.status == "pending"
            session.execute(update(Outbox).where(*failed).values(next_attempt_at=func.now()))
        delivery.tick()
        time.sleep(0.05)


def test_a_receiver_that_dies_and_comes_back_gets_everything_and_deduplicates_to_once(
    served: Served, league: ReadableLeague, admin: httpx.Client, receiver: Receiver, delivery: AlertDelivery
) -> None:
    channel = make_channel(admin, url=receiver.url)
    make_rule(admin, channel, "setback")
    cut = threading.Event()
    seen: set[str] = set()

    def flaky(request: Any) -> int | None:
        """The first attempt at each message is received and its answer lost; the second is refused."""
        first, second = f"1{request.id}", f"2{request.id}"
        for mark, answer in ((first, None), (second, 503)):
            if mark not in seen and not cut.is_set():
                seen.add(mark)
                return answer
        return 200

    receiver.answer = flaky
    retried(served, league.trial_id, 5)
    work(served, delivery, lambda: len(receiver.once) == 5)
    receiver.stop()
    retried(served, league.trial_id, 5)
    delivery.collect()
    work(served, delivery, lambda: bool(admin.get(f"{ALERTS}/channels/{channel['id']}").json()["failures"]))
    failing = admin.get(f"{ALERTS}/channels/{channel['id']}").json()
    assert failing["pending"] >= 5 and "127.0.0.1" in failing["last_error"] and "/hook" not in failing["last_error"]
    cut.set()
    receiver.start()
    work(served, delivery, lambda: {one["status"] for one in deliveries(admin)} == {"delivered"})
    sent = deliveries(admin)
    assert set(receiver.once) == {one["id"] for one in sent} and len(sent) == 10
    assert len(receiver.received) > 10, "some came more than once, as at least once allows"
    for request in receiver.received:
        assert request.body == receiver.once[request.id].body, "every attempt is the same"
    sequences = sorted(request.json["sequence"] for request in receiver.once.values())
    with served.sessions() as session:
        newest = session.scalars(
            select(Event.id).where(Event.trial_id == league.trial_id).order_by(Event.id.desc()).limit(10)
        )
        assert sequences == sorted(newest)
    channel_now = admin.get(f"{ALERTS}/channels/{channel['id']}").json()
    assert (channel_now["failures"], channel_now["last_error"], channel_now["pending"]) == (0, None, 0)


def test_a_receiver_can_verify_what_it_gets(
    served: Served, league: ReadableLeague, admin: httpx.Client, receiver: Receiver, delivery: AlertDelivery
) -> None:
    channel = make_channel(admin, url=receiver.url)
    make_rule(admin, channel, "setback", trial_id=league.trial_id)
    retried(served, league.trial_id, 1, "no access with lanista_abcdefgh12345678\nTraceback: hunter22")
    work(served, delivery, lambda: bool(receiver.received))
    request = receiver.received[0]
    key = base64.b64decode(channel["secret"].removeprefix("whsec_"))
    signed = f"{request.id}.{request.headers['webhook-timestamp']}.".encode() + request.body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert request.headers["webhook-signature"] == f"v1,{expected}"
    assert abs(int(request.headers["webhook-timestamp"]) - time.time()) < 300
    told = request.json
    assert (told["kind"], told["trial"]["id"], told["player"]) == ("setback", league.trial_id, "main")
    assert told["id"] == request.id and told["url"] == f"https://lanista.example/trials/{league.trial_id}"
    assert b"lanista_abc" not in request.body and b"hunter22" not in request.body


SENDER = """
import asyncio, sys
from api.alerts.delivery import AlertDelivery
from api.settings import StoreSettings
from api.store.core.engine import create_store_engine, session_factory
settings = StoreSettings(database_url=sys.argv[1], temporal_key=sys.argv[2], alert_networks="127.0.0.0/8")
asyncio.run(AlertDelivery(session_factory(create_store_engine(sys.argv[1])), settings).run())
"""


def test_a_sender_that_is_killed_while_it_sends_loses_nothing(
    served: Served, league: ReadableLeague, admin: httpx.Client, receiver: Receiver, api_database: str
) -> None:
    channel = make_channel(admin, url=receiver.url)
    make_rule(admin, channel, "setback")
    held, release = threading.Event(), threading.Event()

    def hold(request: Any) -> int:
        held.set()
        release.wait(PATIENCE)
        return 200

    receiver.answer = hold
    retried(served, league.trial_id, 3)
    command = [sys.executable, "-c", SENDER, api_database, KEY]
    first = subprocess.Popen(command)
    try:
        assert held.wait(PATIENCE), "the sender did not send"
        os.kill(first.pid, signal.SIGKILL)  # after the receiver got it, before the sender could record it
    finally:
        first.kill()
        first.wait()
    release.set()
    assert [one["status"] for one in deliveries(admin)] == ["pending"] * 3
    with served.sessions.begin() as session:  # the lease of the dead sender ends
        session.execute(update(Outbox).values(next_attempt_at=func.now()))
    second = subprocess.Popen(command)
    try:
        until(lambda: [one["status"] for one in deliveries(admin)] == ["delivered"] * 3)
    finally:
        second.kill()
        second.wait()
    assert len(receiver.received) == 4 and len(receiver.once) == 3, "the one under way came twice, with its id"


def test_two_senders_at_once_write_and_send_each_message_once(
    served: Served, league: ReadableLeague, admin: httpx.Client, receiver: Receiver
) -> None:
    channel = make_channel(admin, url=receiver.url)
    make_rule(admin, channel, "setback")
    make_rule(
        admin, channel, "setback", "new_champion", project=project_of(admin, league)
    )  # both rules choose the same events
    retried(served, league.trial_id, 20)
    senders = [AlertDelivery(served.sessions, served.settings) for _ in range(3)]

    def run(sender: AlertDelivery) -> None:
        sender.collect()
        while sender.send_next(channel["id"]):
            pass

    threads = [threading.Thread(target=run, args=(sender,)) for sender in senders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    for sender in senders:
        sender.collect()
        while sender.send_next(channel["id"]):
            pass
        sender.close()
    assert len(receiver.received) == len(receiver.once) == 20


def test_rules_choose_by_kind_project_trial_and_from_now_on(
    served: Served, league: ReadableLeague, admin: httpx.Client, receiver: Receiver, delivery: AlertDelivery
) -> None:
    channel = make_channel(admin, url=receiver.url)
    other = readable_league(served.sessions)
    retried(served, league.trial_id, 1)
    make_rule(admin, channel, "trial_failed", "new_champion", trial_id=league.trial_id)
    for trial_id in (league.trial_id, other.trial_id):
        failed = TrialStatusChanged(from_="running", to="failed", reason="no memory is left")
        with served.sessions.begin() as session:
            append_events(session, [NewEvent(trial_id=trial_id, payload=failed)])
    retried(served, league.trial_id, 1)
    work(served, delivery, lambda: bool(receiver.received))
    delivery.collect()
    told = [request.json for request in receiver.received]
    assert [(one["kind"], one["trial"]["id"]) for one in told] == [("trial_failed", league.trial_id)]
    (sent,) = deliveries(admin)
    assert "no memory is left" in told[0]["text"]
    assert (sent["trial_id"], sent["trial"]) == (league.trial_id, told[0]["trial"]["name"])


def test_the_end_of_a_scheduled_tournament_is_told(
    served: Served, league: ReadableLeague, admin: httpx.Client, receiver: Receiver, delivery: AlertDelivery
) -> None:
    channel = make_channel(admin, url=receiver.url)
    make_rule(admin, channel, "schedule_result", project=project_of(admin, league))
    with served.sessions.begin() as session:
        trial = session.get_one(Trial, league.trial_id)
        schedule = Schedule(
            id=new_id(), project_id=trial.project_id, name=new_id(), every_seconds=60, tournament={"trial": "t"}
        )
        session.add(schedule)
        session.flush()
        held = session.scalars(select(Tournament).where(Tournament.trial_id == league.trial_id).limit(1)).one()
        session.execute(
            update(Tournament).where(Tournament.id == held.id).values(schedule_id=schedule.id, occasion=new_id())
        )
        session.execute(
            text(
                "INSERT INTO events (trial_id, type, payload) VALUES (:trial, 'tournament.finished', "
                "jsonb_build_object('tournament_id', cast(:id AS text), 'name', 'nightly', 'status', 'completed'))"
            ),
            {"trial": league.trial_id, "id": held.id},
        )
    work(served, delivery, lambda: bool(receiver.received))
    told = receiver.received[0].json
    assert (told["kind"], told["schedule"]["id"], told["tournament"]["id"]) == (
        "schedule_result",
        schedule.id,
        held.id,
    )


def test_a_running_trial_without_events_is_told_to_be_stalled_once(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    league = readable_league(served.sessions)

    def noted(after: timedelta = timedelta(0)) -> int:
        with served.sessions.begin() as session:
            note_stalled_trials(session, after)
        with served.sessions() as session:
            count = select(func.count()).select_from(Event)
            return session.scalars(count.where(Event.trial_id == league.trial_id, Event.type == "trial.stalled")).one()

    assert noted() == 0, "it is not running"
    with served.sessions.begin() as session:
        session.execute(update(Trial).where(Trial.id == league.trial_id).values(status="running"))
    with monkeypatch.context() as patch:
        patch.setattr("api.store.alerts.deliveries.up_since", now)
        assert noted(timedelta(seconds=1)) == 0, "time that the installation was down is no standstill"
    assert [noted(), noted()] == [1, 1]
    retried(served, league.trial_id, 1)
    assert noted() == 2, "it went on, and stalled again"
    with served.sessions.begin() as session:
        session.execute(
            update(Trial).where(Trial.id == league.trial_id).values(status="stopped", finished_at=func.now())
        )


def test_a_redirect_is_not_followed(
    served: Served, league: ReadableLeague, admin: httpx.Client, receiver: Receiver, delivery: AlertDelivery
) -> None:
    channel = make_channel(admin, url=receiver.url)
    receiver.answer = lambda request: 307
    admin.post(f"{ALERTS}/channels/{channel['id']}/test")
    work(served, delivery, lambda: "redirect" in (deliveries(admin)[0]["last_error"] or ""))
    assert {request.path for request in receiver.received} == {"/hook"}


def test_what_is_not_allowed_is_never_called(served: Served, admin: httpx.Client, receiver: Receiver) -> None:
    """The address is checked when a message is sent: the setting may have changed, and so may the name."""
    channel = make_channel(admin, url=receiver.url)
    named = make_channel(admin, url=receiver.url.replace("127.0.0.1", "localhost"))
    strict = AlertDelivery(served.sessions, served.settings.model_copy(update={"alert_networks": "10.0.0.0/8"}))
    for each in (channel, named):
        admin.post(f"{ALERTS}/channels/{each['id']}/test")
        assert strict.send_next(each["id"]) is False
        assert "no public address" in admin.get(f"{ALERTS}/channels/{each['id']}").json()["last_error"]
    strict.close()
    assert receiver.received == []


def test_secrets_are_shown_once_and_stored_sealed(
    served: Served, admin: httpx.Client, receiver: Receiver, delivery: AlertDelivery
) -> None:
    url = receiver.url + "/very-secret-path"
    key = {"Idempotency-Key": new_id()}
    body = {"name": f"c-{new_id()[-12:]}", "kind": "webhook", "url": url}
    made = admin.post(f"{ALERTS}/channels", json=body, headers=key)
    secret = made.json()["secret"]
    assert secret.startswith("whsec_") and made.headers["cache-control"] == "no-store"
    assert admin.post(f"{ALERTS}/channels", json=body, headers=key).json()["secret"] is None
    shown = [admin.get(f"{ALERTS}/channels").text, admin.get("/api/v1/audit").text]
    with served.sessions() as session:
        sealed = session.scalars(select(AlertChannel.sealed)).one()
    for text_ in (*shown, repr(sealed)):
        assert secret not in text_ and "very-secret-path" not in text_
    other = AlertDelivery(served.sessions, served.settings.model_copy(update={"temporal_key": None}))
    channel_id = made.json()["id"]
    admin.post(f"{ALERTS}/channels/{channel_id}/test")
    assert other.send_next(channel_id) is False
    other.close()
    assert "LANISTA_TEMPORAL_KEY" in admin.get(f"{ALERTS}/channels/{channel_id}").json()["last_error"]
    changed = admin.patch(f"{ALERTS}/channels/{channel_id}", json={"url": receiver.url + "/other"})
    assert changed.status_code == 200 and changed.json()["failures"] == 0
    work(served, delivery, lambda: bool(receiver.received))
    assert receiver.received[0].path == "/hook/other"
    actions = [line["action"] for line in admin.get("/api/v1/audit").json()["items"]]
    assert actions[:3] == ["alert_channel.change", "alert_channel.test", "alert_channel.create"]


def test_slack_gets_its_own_json(
    served: Served, league: ReadableLeague, admin: httpx.Client, receiver: Receiver, delivery: AlertDelivery
) -> None:
    channel = make_channel(admin, kind="slack", url=receiver.url)
    assert channel["secret"] is None
    make_rule(admin, channel, "setback")
    retried(served, league.trial_id, 1, "<!channel> & co")
    work(served, delivery, lambda: bool(receiver.received))
    assert set(receiver.received[0].json) == {"text"}
    assert "&lt;!channel&gt; &amp; co" in receiver.received[0].json["text"]
    assert "webhook-signature" not in receiver.received[0].headers


def test_what_was_given_up_is_shown_sent_again_and_pruned(
    served: Served, admin: httpx.Client, receiver: Receiver, delivery: AlertDelivery
) -> None:
    channel = make_channel(admin, url=receiver.url)
    receiver.answer = lambda request: 500
    message = admin.post(f"{ALERTS}/channels/{channel['id']}/test").json()
    short = AlertDelivery(served.sessions, served.settings.model_copy(update={"alert_retry_hours": 0}))
    assert short.send_next(channel["id"]) is False
    short.close()
    failed = deliveries(admin, status="failed")
    assert [one["id"] for one in failed] == [message["id"]] and "answered 500" in failed[0]["last_error"]
    receiver.answer = lambda request: 200
    again = f"{ALERTS}/deliveries/{message['id']}/retry"
    assert admin.post(again).json()["status"] == "pending"
    work(served, delivery, lambda: deliveries(admin)[0]["status"] == "delivered")
    assert admin.post(again).status_code == 409
    with served.sessions.begin() as session:
        assert prune_deliveries(session, timedelta(days=1)) == 0
        assert prune_deliveries(session, timedelta(0)) == 1


def test_a_change_tries_again_what_waits_and_leaves_what_is_under_way(
    served: Served, admin: httpx.Client, receiver: Receiver, delivery: AlertDelivery
) -> None:
    channel = make_channel(admin, url=receiver.url)
    where = f"{ALERTS}/channels/{channel['id']}"
    held, release = threading.Event(), threading.Event()

    def hold(request: Any) -> int:
        held.set()
        release.wait(PATIENCE)
        return 200

    receiver.answer = lambda request: 500
    admin.post(f"{where}/test")
    assert delivery.send_next(channel["id"]) is False and len(receiver.received) == 1
    receiver.answer = hold
    admin.patch(where, json={"enabled": True})
    delivery.tick()
    try:
        assert held.wait(PATIENCE), "it was not tried again"
        admin.patch(where, json={"enabled": True})
        assert delivery.send_next(channel["id"]) is False and len(receiver.received) == 2
    finally:
        release.set()
    until(lambda: deliveries(admin)[0]["status"] == "delivered")


def test_a_sender_that_is_closed_leaves_the_rest_of_a_backlog(
    served: Served, admin: httpx.Client, receiver: Receiver, delivery: AlertDelivery
) -> None:
    channel = make_channel(admin, url=receiver.url)
    for _ in range(3):
        admin.post(f"{ALERTS}/channels/{channel['id']}/test")

    def close(request: Any) -> int:
        delivery.close()
        return 200

    receiver.answer = close
    delivery.tick()
    until(lambda: bool(receiver.received) and not delivery._busy)
    assert sorted(one["status"] for one in deliveries(admin)) == ["delivered", "pending", "pending"]


def test_a_channel_that_cannot_be_read_leaves_the_others_theirs(
    served: Served, league: ReadableLeague, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, whole = (make_channel(admin, url="https://example.com/") for _ in range(2))
    for channel in (broken, whole):
        make_rule(admin, channel, "setback")
    retried(served, league.trial_id, 1)
    write = delivery_module.write_messages

    def written(session: Any, channel_id: str, **options: Any) -> int | None:
        if channel_id == broken["id"]:
            raise ValueError("broken")
        return write(session, channel_id, **options)

    monkeypatch.setattr(delivery_module, "write_messages", written)
    sender = AlertDelivery(served.sessions, served.settings)
    sender.collect()
    sender.close()
    assert [one["channel_id"] for one in deliveries(admin)] == [whole["id"]]


def test_a_channel_that_is_off_collects_nothing(
    served: Served, league: ReadableLeague, admin: httpx.Client, receiver: Receiver, delivery: AlertDelivery
) -> None:
    channel = make_channel(admin, url=receiver.url)
    make_rule(admin, channel, "setback")
    where = f"{ALERTS}/channels/{channel['id']}"
    assert admin.patch(where, json={"enabled": False}).json()["enabled"] is False
    retried(served, league.trial_id, 1)
    delivery.tick()
    assert admin.post(f"{where}/test").status_code == 409
    admin.patch(where, json={"enabled": True})
    delivery.tick()
    assert deliveries(admin) == []
    assert admin.delete(where).status_code == 204 and admin.get(where).status_code == 404
    assert admin.get(f"{ALERTS}/rules").json()["items"] == []


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({"kind": "webhook"}, 422, "url"),
        ({"kind": "webhook", "url": "https://10.0.0.1/"}, 422, "LANISTA_ALERT_NETWORKS"),
        ({"kind": "webhook", "url": "https://example.com/", "secret": "whsec_" + "A" * 31}, 422, "base64"),
        ({"kind": "slack", "url": "https://example.com/", "secret": "whsec_" + "A" * 44}, 422, "Slack"),
        ({"kind": "slack", "url": "javascript:alert(1)"}, 422, "url"),
        ({"kind": "email", "url": "https://example.com/"}, 422, "to"),
        ({"kind": "email", "to": ["a@example.com"]}, 409, "LANISTA_SMTP_HOST"),
    ],
)
def test_a_wrong_channel_is_refused_in_words(admin: httpx.Client, body: dict[str, Any], status: int, word: str) -> None:
    answer = admin.post(f"{ALERTS}/channels", json={"name": "wrong", **body})
    assert answer.status_code == status and word in answer.text


def test_without_a_key_no_channel_is_made_but_one_is_switched_off(api: Served, admin: httpx.Client) -> None:
    where = f"{ALERTS}/channels/{make_channel(admin, url='https://example.com/')['id']}"
    with api.client(Scope.ADMIN) as client:
        assert client.patch(where, json={"enabled": False}).json()["enabled"] is False
        assert client.patch(where, json={"url": "https://example.org/"}).status_code == 409
        answer = client.post(f"{ALERTS}/channels", json={"name": "c", "kind": "slack", "url": "https://example.com/"})
    assert answer.status_code == 409 and "LANISTA_TEMPORAL_KEY" in answer.text
