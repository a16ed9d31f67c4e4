"""Which events become which alerts, what they say, and what they never say."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime
from email import message_from_bytes, policy

import pytest
from pydantic import ValidationError

from api.alerts.kinds import EVENT_KINDS, alert_kinds
from api.alerts.mail import mail_of
from api.alerts.messages import Context, message_of, slack_body, title_of
from api.alerts.redaction import HIDDEN, redacted
from api.alerts.signing import new_secret, secret_bytes, signed_headers
from api.schemas.alerts import AlertMessage, NewChannel, Subject
from api.schemas.enums import AlertKind
from api.schemas.events import KINDS, read_event
from api.store.alerts.deliveries import LONGEST_WAIT, wait_after
from orchestrator.contracts.errors import Failure

AT = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "payload", "expected"),
    [
        ("trial.status", {"from": "running", "to": "failed", "reason": "boom"}, {AlertKind.TRIAL_FAILED}),
        ("trial.status", {"from": "failed", "to": "failed"}, set()),
        ("trial.status", {"from": "running", "to": "stopping", "reason": "target reached: main"}, set()),
        (
            "trial.status",
            {"from": "stopping", "to": "completed", "reason": "target reached: main won 0.93"},
            {AlertKind.TARGET_REACHED},
        ),
        ("trial.status", {"from": "stopping", "to": "completed", "reason": "the budget is used up"}, set()),
        ("generation_retried", {"failure": "worker_lost"}, {AlertKind.SETBACK}),
        ("generation_retried", {"failure": Failure.STALLED}, {AlertKind.SETBACK, AlertKind.STALLED}),
        ("pairing.retried", {}, {AlertKind.SETBACK}),
        ("checkpoint.damaged", {}, {AlertKind.SETBACK}),
        ("workflow.restarted", {}, {AlertKind.SETBACK}),
        ("trial.stalled", {"minutes": 30.0}, {AlertKind.STALLED}),
        ("alias.moved", {"alias": "champion"}, {AlertKind.NEW_CHAMPION}),
        ("schedule.failed", {}, {AlertKind.SCHEDULE_RESULT}),
        ("tournament.finished", {"status": "completed"}, set()),
        ("generation.recorded", {}, set()),
    ],
)
def test_events_and_their_alerts(kind: str, payload: dict[str, object], expected: set[AlertKind]) -> None:
    assert alert_kinds(read_event(kind, payload)) == expected


def test_the_end_of_a_tournament_is_a_result_if_a_schedule_opened_it() -> None:
    event = read_event("tournament.finished", {"status": "completed"})
    assert alert_kinds(event, of_schedule=True) == {AlertKind.SCHEDULE_RESULT}


def test_every_event_that_has_an_alert_is_read_from_the_table() -> None:
    alerting = {kind for kind, payload in KINDS.items() if alert_kinds(payload(), of_schedule=True)}
    assert alerting <= set(EVENT_KINDS)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("no access with lanista_abcDEF-123_456789 at all", "lanista_abcDEF-123_456789"),
        ("postgresql://lanista:hunter22@db/lanista failed", "hunter22"),
        ("Authorization: Bearer abc.def-ghi", "abc.def-ghi"),
        ("PASSWORD=hunter22 was refused", "hunter22"),
        ("{'api_key': 'hunter2222'}", "hunter2222"),
        ("aws_secret_access_key: AbCdEf123", "AbCdEf123"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("whsec_c2VjcmV0c2VjcmV0", "whsec_c2VjcmV0c2VjcmV0"),
        ("first line\nTraceback with hunter22", "hunter22"),
    ],
)
def test_a_message_hides_what_looks_like_a_secret(text: str, secret: str) -> None:
    shown = redacted(text)
    assert secret not in shown
    assert HIDDEN in shown or "\n" in text


def test_ordinary_words_stay() -> None:
    text = "Generation 7 of main: attempt 2 failed, the next in 5 s: the worker sent no heartbeat in time"
    assert redacted(text) == text
    assert len(redacted("x" * 5_000)) == 500


def message(text: str = "main-2 <!channel> & more", name: str = "first-league") -> AlertMessage:
    event = read_event("alias.moved", {"alias": "champion", "to_version": text})
    context = Context(project="connect-four", project_id="p", trial=Subject(id="t", name=name))
    where = {"message_id": "m", "sequence": 7, "at": AT, "public_url": "https://lanista.example/"}
    return message_of(event, AlertKind.NEW_CHAMPION, context, **where)  # type: ignore[arg-type]


def test_slack_gets_no_mention_and_a_link() -> None:
    text = slack_body(message())["text"]
    assert "<!channel>" not in text and "&lt;!channel&gt; &amp; more" in text
    assert "<https://lanista.example/trials/t|Open on the page>" in text
    assert text.startswith("*New champion: connect-four/first-league*")


def test_a_mail_keeps_its_message_id_and_its_headers_apart() -> None:
    mail = mail_of(message(name="evil\r\nBcc: other@example.com"), "lanista@example.com", ["a@example.com"])
    read = message_from_bytes(mail.as_bytes(), policy=policy.default)
    assert read["Bcc"] is None and read["Message-ID"] == "<m@example.com>"
    assert "Bcc: other" in read["Subject"] and title_of(message()) == "New champion: connect-four/first-league"
    assert "main-2" in read.get_content()


@pytest.mark.parametrize("address", ["no-at", "a@b@c.d", "a@b.c\nBcc: d@e.f", "a@localhost", "a,b@c.d", "<a@b.c>"])
def test_a_wrong_address_is_refused(address: str) -> None:
    with pytest.raises(ValidationError):
        NewChannel(name="mail", kind="email", to=[address])  # type: ignore[arg-type]


def test_the_signature_is_over_id_time_and_body() -> None:
    secret = new_secret()
    headers = signed_headers(secret, "m", 1_900_000_000, b'{"a":1}')
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, b'm.1900000000.{"a":1}', hashlib.sha256).digest()).decode()
    assert headers == {"webhook-id": "m", "webhook-timestamp": "1900000000", "webhook-signature": f"v1,{expected}"}


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_c2hvcnQ=", "c2VjcmV0" * 6, "whsec_!!!!"])
def test_a_wrong_secret_is_refused(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        secret_bytes(secret)


def test_waits_double_up_to_the_longest() -> None:
    seconds = [wait_after(failures).total_seconds() for failures in range(1, 6)]
    assert seconds == [2, 4, 8, 16, 32]
    assert wait_after(1_000) == LONGEST_WAIT
