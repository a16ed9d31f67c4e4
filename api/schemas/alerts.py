"""Alerts: channels, rules, deliveries, and the message that is sent."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from api.schemas.base import Answer, Body, Name, Utc
from api.schemas.enums import AlertKind, ChannelKind, DeliveryStatus
from api.schemas.events.base import Level

LONGEST_URL = 2_000


def _require_address(value: str) -> str:
    """One @, and nothing that could start another header or name another recipient."""
    local, _, domain = value.partition("@")
    if not local or "." not in domain.strip(".") or "@" in domain:
        raise ValueError(f"{value!r} is no e-mail address; expected name@host.domain")
    return value


MailAddress = Annotated[
    str,
    StringConstraints(max_length=254, pattern=r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+$"),
    AfterValidator(_require_address),
]
Url = Annotated[str, StringConstraints(max_length=LONGEST_URL, pattern=r"^https?://[!-~]+$")]


class NewChannel(Body):
    """A channel to create. Its address and its secret are stored encrypted and never shown again."""

    name: Name = Field(examples=["on-call"])
    kind: ChannelKind = Field(description="webhook: signed JSON; slack: Slack's JSON; email: by the SMTP server")
    url: Url | None = Field(
        default=None,
        description="of a webhook or of Slack: where messages are posted",
        examples=["https://hooks.example.com/lanista"],
    )
    secret: str | None = Field(
        default=None,
        min_length=32,
        max_length=200,
        pattern=r"^whsec_[A-Za-z0-9+/]+={0,2}$",
        description="of a webhook: whsec_ and the base64 of 24 to 64 bytes; null: one is made, and shown once",
    )
    to: list[MailAddress] | None = Field(
        default=None,
        min_length=1,
        max_length=20,
        description="of e-mail: the recipients",
        examples=[["team@example.com"]],
    )


class ChannelChange(Body):
    """What to change of a channel; what is left out stays."""

    enabled: bool | None = Field(default=None, strict=True, description="false: nothing is sent or collected for it")
    url: Url | None = Field(default=None, description="another address to post to")
    secret: str | None = Field(
        default=None, min_length=32, max_length=200, pattern=r"^whsec_[A-Za-z0-9+/]+={0,2}$", description="another one"
    )
    to: list[MailAddress] | None = Field(default=None, min_length=1, max_length=20, description="other recipients")


class Channel(Answer):
    """A channel, without its secret and without the path of its address, which may be one."""

    id: str = Field(description="its id")
    name: str = Field(description="its name", examples=["on-call"])
    kind: ChannelKind = Field(description="how its messages are sent")
    target: str = Field(
        description="the host of its address, or the recipients", examples=["https://hooks.example.com/…"]
    )
    enabled: bool = Field(description="false: nothing is sent or collected for it")
    failures: int = Field(description="attempts that failed since the last success; 0 while it works", examples=[0])
    last_error: str | None = Field(description="why the last attempt failed; null while it works")
    last_error_at: Utc | None = Field(description="when the last attempt failed")
    last_success_at: Utc | None = Field(description="when a message was last delivered")
    blocked_until: Utc | None = Field(description="when the next attempt is made after a failure")
    pending: int = Field(description="messages that wait to be delivered", examples=[0])
    created_at: Utc = Field(description="when it was created")


class MadeChannel(Channel):
    """A new channel, with the secret of a webhook."""

    secret: str | None = Field(
        description="what signs a webhook's messages, shown only once; null for others, and in the answer to a "
        "repeated request"
    )


class NewRule(Body):
    """A rule to create: what is sent to a channel."""

    channel_id: UUID = Field(description="the channel")
    kinds: list[AlertKind] = Field(
        min_length=1, max_length=len(AlertKind), description="what messages are about", examples=[["trial_failed"]]
    )
    project: Name | None = Field(default=None, description="only of this project; null: of every project")
    trial_id: UUID | None = Field(default=None, description="only of this trial; null: of every trial")


class Rule(Answer):
    """What is sent to a channel. It concerns events from its creation on."""

    id: str = Field(description="its id")
    channel_id: str = Field(description="the channel")
    channel: str = Field(description="the channel's name", examples=["on-call"])
    kinds: list[AlertKind] = Field(description="what messages are about", examples=[["trial_failed", "new_champion"]])
    project: str | None = Field(description="only of this project; null: of every project")
    trial_id: str | None = Field(description="only of this trial; null: of every trial")
    trial: str | None = Field(description="the trial's name")
    created_at: Utc = Field(description="when it was created")


class Delivery(Answer):
    """One message to one channel."""

    id: str = Field(description="the message's id: the same in every attempt, so that receivers can deduplicate by it")
    channel_id: str = Field(description="the channel")
    channel: str = Field(description="the channel's name", examples=["on-call"])
    event_id: int | None = Field(description="the event that it tells of; null for a test message", examples=[4711])
    kind: AlertKind | Literal["test"] = Field(description="what it is about")
    text: str = Field(description="the message in words")
    trial_id: str | None = Field(default=None, description="the trial of the event; null where it has none")
    trial: str | None = Field(default=None, description="that trial's name", examples=["first-league"])
    status: DeliveryStatus = Field(description="pending, delivered, or failed: given up")
    attempts: int = Field(description="attempts so far", examples=[1])
    last_error: str | None = Field(
        description="why the last attempt failed, null during the next; of a delivered one: what was refused in part",
        examples=["the receiver answered 500"],
    )
    next_attempt_at: Utc = Field(description="of a pending one: when it is tried next")
    created_at: Utc = Field(description="when it was written to the outbox")
    delivered_at: Utc | None = Field(description="when the receiver accepted it")


class Subject(Answer):
    """What a message is about, by name and id."""

    id: str
    name: str


class AlertMessage(Answer):
    """The JSON body that a webhook gets."""

    id: str = Field(description="the message's id: the same in every attempt")
    kind: AlertKind | Literal["test"] = Field(description="what it is about")
    text: str = Field(description="what happened, as one sentence")
    level: Level = Field(description="ordinary, good news, or trouble")
    sequence: int | None = Field(description="the number of the event; a greater one happened later")
    event: str | None = Field(description="the kind of the event")
    at: Utc = Field(description="when it happened")
    project: str | None = Field(description="the project's name")
    trial: Subject | None = Field(description="the trial")
    tournament: Subject | None = Field(description="the tournament")
    schedule: Subject | None = Field(description="the schedule")
    player: str | None = Field(description="the player's name")
    generation: int | None = Field(description="the generation")
    attempts: int | None = Field(description="of a failed attempt: attempts so far")
    lost_steps: int | None = Field(description="of a failed attempt: its steps, which are made again")
    url: str | None = Field(description="where the page shows it; null where LANISTA_PUBLIC_URL is not set")
