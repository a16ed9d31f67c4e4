"""What a message says: the JSON of webhooks, and the same in words for Slack and e-mail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from api.alerts.redaction import redacted
from api.schemas.alerts import AlertMessage, Subject
from api.schemas.enums import AlertKind
from api.schemas.events import EventPayload

TITLES = {
    AlertKind.TRIAL_FAILED: "Trial failed",
    AlertKind.STALLED: "Stalled",
    AlertKind.SETBACK: "Setback",
    AlertKind.NEW_CHAMPION: "New champion",
    AlertKind.TARGET_REACHED: "Target reached",
    AlertKind.SCHEDULE_RESULT: "Schedule",
    "test": "Test message",
}


@dataclass(frozen=True, kw_only=True)
class Context:
    """The names behind an event's ids."""

    project: str | None = None
    project_id: str | None = None
    trial: Subject | None = None
    tournament: Subject | None = None
    schedule: Subject | None = None


def message_of(
    event: EventPayload,
    kind: AlertKind,
    context: Context,
    *,
    message_id: str,
    sequence: int,
    at: datetime,
    public_url: str = "",
) -> AlertMessage:
    """The message about an event. Of the payload it holds what is named here, and nothing else."""
    return AlertMessage(
        id=message_id,
        kind=kind,
        text=redacted(event.text),
        level=event.level,
        sequence=sequence,
        event=event.kind,
        at=at,
        project=context.project,
        trial=context.trial,
        tournament=context.tournament,
        schedule=context.schedule,
        player=getattr(event, "player", None) or None,
        generation=getattr(event, "generation", None),
        attempts=getattr(event, "tries", None) or None,
        lost_steps=getattr(event, "lost_steps", None) or None,
        url=_url(public_url, context),
    )


def check_message(*, message_id: str, at: datetime, channel: str, public_url: str = "") -> AlertMessage:
    """A test message."""
    return AlertMessage(
        id=message_id,
        kind="test",
        text=f"This is a test message of channel {channel}: alerts arrive here.",
        level="plain",
        sequence=None,
        event=None,
        at=at,
        project=None,
        trial=None,
        tournament=None,
        schedule=None,
        player=None,
        generation=None,
        attempts=None,
        lost_steps=None,
        url=public_url.rstrip("/") + "/alerts" if public_url else None,
    )


def title_of(message: AlertMessage) -> str:
    """The subject of an e-mail, and the first line of a Slack message."""
    about = message.trial or message.tournament or message.schedule
    where = "/".join(part for part in (message.project, about.name if about else None) if part)
    return f"{TITLES[message.kind]}: {where}" if where else TITLES[message.kind]


def slack_body(message: AlertMessage) -> dict[str, str]:
    """Slack's JSON; `&`, `<` and `>` are escaped, so that no text becomes a mention or a link."""
    lines = [f"*{_in_slack(title_of(message))}*", _in_slack(message.text)]
    if message.url:
        lines.append(f"<{message.url}|Open on the page>")
    return {"text": "\n".join(lines)}


def plain_text(message: AlertMessage) -> str:
    """The body of an e-mail."""
    when = f"{message.at:%Y-%m-%d %H:%M:%S} UTC"
    lines = [message.text, "", when, *([message.url] if message.url else []), f"Message {message.id}"]
    return "\n".join(lines) + "\n"


def _in_slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _url(public_url: str, context: Context) -> str | None:
    if not public_url:
        return None
    base = public_url.rstrip("/")
    if context.tournament is not None:
        return f"{base}/tournaments/{context.tournament.id}"
    if context.trial is not None:
        return f"{base}/trials/{context.trial.id}"
    return f"{base}/schedules" if context.schedule is not None else base
